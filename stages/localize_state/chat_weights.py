"""Weights of the features of chats in thousandths of a logit.

A conditional logistic model as for channels, in which likeness can only help (by constraint). Fitted on task dialogues
of the Schema-Guided Dialogue training split (Rastogi et al. 2020, CC BY-SA 4.0: numbers only, no text), interleaved
ten to a space in blocks of one to twenty interactions with pauses of seconds to days (7,396 opening turns); three
rounds, each on the forest of the last one. Cosines are those of all-MiniLM-L6-v2.
"""

from __future__ import annotations

from typing import Final

from stages.localize_state.weights import weights

_TABLE = """
aANAPHORA0=896; aANAPHORA1=-184; aANSWER0=-232; aANSWER1=737; aCLOSING0=-67; aCLOSING1=296; aGREETING0=-506;
aGREETING1=-685; aOPENING0=-475; aOPENING1=365; aQUESTION0=534; aQUESTION1=-617; aREQUEST0=-755;
aREQUEST1=-161; aTHANKS0=1196; aTHANKS1=-600; aasked0words0=478; aasked0words1=-262; aasked0words2=-410;
aasked0words3=-379; aasked0words4=-626; aasked0words5=-349; aasked1words0=50; aasked1words1=409;
aasked1words2=376; aasked1words3=122; aasked1words4=165; aasked1words5=30; aassent00=1404; aassent01=-1331;
aassent10=1360; aassent11=915; aassent20=-490; aassent30=224; aclosed0=-2162; aclosed1=-106; acos1=651;
acos2=756; acos3=756; acos4=756; acos5=756; acos6=756; adepth1=-203; adepth3=-194; afit ASKS_COUNT00=-1584;
afit ASKS_COUNT01=-1282; afit ASKS_COUNT10=652; afit ASKS_WHEN00=-2241; afit ASKS_WHEN01=-1749;
afit ASKS_WHEN10=432; afit ASKS_WHEN11=1156; afit ASKS_WHERE00=-749; afit ASKS_WHERE01=-95;
afit ASKS_WHERE10=-215; age0=-397; age1=1141; age2=214; age3=-163; age4=-1506; ahuman00=-397; alead-1=94;
alead0=111; alead1=111; alead2=111; amargin1=216; amargin2=216; amargin3=216; amargin4=216; amargin5=216;
amargin6=216; amargin7=216; anear1=341; anear2=932; anear3=1439; anear4=2085; anear5=2198; anear6=2198;
aother00=-72; aother01=-2143; aother10=-412; aother11=291; aother20=-101; aother30=-43; aoverlap1=326;
aoverlap2=326; aoverlap3=787; aoverlap4=924; aoverlap5=1015; aparting0=-67; aparting1=296; asession0=-189;
asession1=-208; aterse0=278; aterse1=-211; bANAPHORA0=619; bANAPHORA1=-115; bANSWER0=427; bANSWER1=775;
bCLOSING1=346; bGREETING0=-249; bGREETING1=-221; bOPENING0=413; bOPENING1=486; bQUESTION0=182;
bQUESTION1=-362; bREQUEST0=-647; bREQUEST1=-378; bTHANKS0=909; bTHANKS1=289; basked0words0=202;
basked0words1=48; basked0words2=-417; basked0words3=-415; basked0words4=-713; basked0words5=-458;
basked1words0=116; basked1words1=474; basked1words2=346; basked1words3=306; basked1words4=471;
basked1words5=-273; bassent00=949; bassent01=-1888; bassent10=1148; bassent11=868; bassent20=59;
bassent30=530; bclosed0=-1904; bclosed1=-1057; bcos4=89; bcos5=95; bcos6=105; bdepth1=229; bdepth3=-543;
bfit ASKS_COUNT00=-1448; bfit ASKS_COUNT01=-949; bfit ASKS_COUNT10=867; bfit ASKS_COUNT11=234;
bfit ASKS_WHEN00=-976; bfit ASKS_WHEN01=-1304; bfit ASKS_WHEN10=1144; bfit ASKS_WHEN11=1583;
bfit ASKS_WHERE00=102; bfit ASKS_WHERE01=-117; bfit ASKS_WHERE10=-120; bfit ASKS_WHERE11=682; bhuman00=-314;
blead2=47; bmargin4=224; bmargin5=403; bmargin6=403; bmargin7=403; bnear1=228; bnear2=262; bnear3=817;
bnear4=1366; bnear5=1665; bnear6=1665; bother00=-127; bother01=-2267; bother10=-307; bother11=326;
bother20=289; bother30=106; boverlap1=380; boverlap2=461; boverlap3=461; boverlap4=816; boverlap5=964;
bparting1=346; bsession0=-163; bsession1=-151; bterse0=-114; bterse1=108; min0=2060; min1=-978; min2=-677;
min3=-318; min4=-484; new=711; new ANAPHORA=-1216; new ANSWER=-1707; new CLOSING=-599; new GREETING=1661;
new OPENING=-789; new QUESTION=263; new REQUEST=1941; new THANKS=-1793; new cos2=-53; new cos3=-363;
new cos4=-636; new cos5=-997; new cos6=-997; new overlap2=-261; new overlap3=-261; new overlap4=-1018;
new overlap5=-1210; new words0=-846; new words1=-669; new words2=105; new words3=367; new words4=704;
new words5=1051
"""

CHAT: Final = weights(_TABLE)

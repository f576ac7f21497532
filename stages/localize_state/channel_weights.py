"""Weights of the channel features in thousandths of a logit.

A conditional logistic model (one choice among all candidates and a new root), fitted by L-BFGS with an L2 penalty
of 2 on 30 logs of the Ubuntu IRC training split (10,930 annotated messages; Kummerfeld et al. 2019, CC BY 4.0), in two
rounds, the second on the forest that the first one's weights grow. The weights of ``gap10`` (older than the window) are
those of ``gap9`` less one logit by hand, as the window holds no such pair. Cosines are those of all-MiniLM-L6-v2.
"""

from __future__ import annotations

from typing import Final

from stages.localize_state.weights import weights

_TABLE = """
bothaddress=637; new=288; new ANAPHORA00=-58; new ANAPHORA01=299; new ANAPHORA10=370; new ANAPHORA11=-582;
new ANAPHORA20=-578; new ANAPHORA21=-310; new ANSWER00=35; new ANSWER01=93; new ANSWER10=-186;
new ANSWER11=-40; new ANSWER20=-254; new ANSWER21=-250; new CLOSING00=-427; new CLOSING01=87;
new CLOSING20=356; new COMMAND00=900; new COMMAND01=477; new COMMAND10=911; new COMMAND11=-933;
new GREETING00=892; new GREETING01=439; new GREETING10=-68; new GREETING11=291; new GREETING20=-105;
new GREETING21=-71; new LINK00=173; new LINK01=-266; new LINK10=-66; new LINK11=-33; new LINK20=-168;
new LINK21=-170; new OPENING01=-328; new OPENING10=418; new OPENING20=-78; new THANKS00=-644;
new THANKS01=-85; new THANKS10=628; new THANKS11=-48; new THANKS20=-51; new THANKS21=-38; new address0=322;
new address1=255; new address2=-290; new called0=202; new called1=86; new partners0=421; new partners1=-136;
new q0since0=-537; new q0since1=-268; new q0since2=-219; new q0since3=-75; new q0since4=-105;
new q0since5=317; new q1since0=255; new q1since1=-155; new q1since3=35; new q1since4=231; new q1since5=812;
new since0=-283; new since1=-422; new since2=-221; new since3=-40; new since4=125; new since6=416;
new since7=700; new words0=-205; new words1=-380; new words2=-186; new words3=59; new words4=327;
new words5=673; oANAPHORA=409; oANSWER=740; oCLOSING=-351; oCOMMAND=-339; oGREETING=-1094; oLINK=522;
oOPENING=-581; oTHANKS=511; oanswer00=190; oanswer01=445; oanswer02=198; oanswer03=278; oanswer04=-191;
oanswer10=496; oanswer11=-81; oanswer12=-294; oanswer13=-50; oanswer14=-253; oback0own2=-280;
oback1own0=-867; oback1own1=-515; oback1own2=-722; oback2own0=617; oback2own1=207; oback2own2=437;
oback3own0=853; oback3own1=386; oback3own2=-306; obranch00=929; obranch01=1099; obranch10=1780;
obranch11=1134; ocos0=-1347; ocos1=-920; ocos2=-501; ocos4=477; ocos5=793; ocos6=1297; ogap0=1061;
ogap1=959; ogap10=-2633; ogap2=780; ogap3=640; ogap4=306; ogap6=-350; ogap7=-790; ogap8=-1182; ogap9=-1633;
omin0=977; omin1=854; omin2=341; omin3=131; omin4=-274; omin5=-586; omin6=-1079; omin7=-507; omin8=-54;
ooverlap0=-634; ooverlap1=-356; ooverlap2=52; ooverlap3=276; ooverlap4=232; ooverlap5=233; oown0=605;
oown1=69; oown2=-62; oown3=-809; opANAPHORA=81; opANSWER=-48; opCLOSING=-470; opCOMMAND=728;
opGREETING=-289; opLINK=299; opOPENING=323; opTHANKS=-566; opcommand0=3495; opcommand1=-306;
opcommand2=-681; opcommand3=-395; opcommand4=-1385; opqtaken0gap0=211; opqtaken0gap1=-67; opqtaken0gap2=87;
opqtaken0gap4=121; opqtaken0gap5=153; opqtaken1gap1=344; opqtaken1gap3=-273; opqtaken1gap4=-335;
opqtaken1gap5=-101; opwords0=-727; opwords1=-152; opwords2=-31; opwords3=159; opwords4=223; opwords5=331;
oq01=372; oq10=-366; oq11=-229; orank0=314; orank1=-106; orank2=-165; orank4=-212; oroot=643; otaken0=-211;
otaken1=-198; otaken2=-33; otaken3=246; otakenown0=-182; otakenown1=-60; otakenown2=46; othanks0=-152;
othanks1=-94; othanks2=-111; othanks3=868; others10=-149; others11=-577; others12=799; others20=-161;
others22=-76; others23=119; oto00=-1163; oto01=-1847; oto02=-508; oto03=-407; oto0rank0=-987;
oto0rank1=-733; oto0rank2=-808; oto0rank3=-1397; oto10=-1263; oto11=-1462; oto12=255; oto13=-537;
oto1rank0=-790; oto1rank1=-1025; oto1rank2=-671; oto1rank3=-522; oto20=1324; oto21=988; oto22=744;
oto23=748; oto2rank0=1117; oto2rank1=759; oto2rank2=603; oto2rank3=1325; oto30=816; oto31=218; oto32=770;
oto33=1128; oto3rank0=974; oto3rank1=893; oto3rank2=712; oto3rank3=353; owords0=297; owords1=219;
owords2=100; owords3=-46; owords4=-300; owords5=-467; partner0=626; partner0rank0=329; partner0rank1=158;
partner0rank2=455; partner1rank0=-914; partner1rank1=-730; partner1rank2=-207; partner2=-146;
partner2rank0=-459; partner2rank1=-410; partner2rank2=-662; partner3rank0=974; partner3rank1=893;
partner3rank2=1065; replied1o=-409; replied2o=-571; sANAPHORA=451; sANSWER=-138; sCLOSING=339;
sCOMMAND=-1014; sGREETING=-284; sOPENING=607; sTHANKS=-272; sameaddr0=-1556; sameaddr1=1897; sanswer00=-140;
sanswer01=-116; sanswer02=251; sanswer03=-32; sanswer04=-113; sanswer10=-31; sanswer11=222; sanswer12=-375;
sanswer13=116; sanswer14=81; sback0own0=382; sback0own1=231; sback0own2=320; sback1own0=78; sback1own1=-213;
sback1own2=-889; sbranch01=-107; sbranch10=460; sbranch11=-444; scos0=-841; scos1=-536; scos2=-242;
scos3=66; scos4=356; scos5=325; scos6=781; sgap0=1109; sgap0min0=765; sgap0min1=679; sgap0min2=-692;
sgap0min3=83; sgap0min4=274; sgap1=674; sgap10=-1509; sgap1min0=239; sgap1min1=131; sgap1min2=-365;
sgap1min3=680; sgap2=50; sgap2min0=356; sgap2min1=325; sgap2min2=-111; sgap2min3=-428; sgap2min4=-92;
sgap3=109; sgap3min0=-103; sgap3min1=-39; sgap3min2=546; sgap3min3=-127; sgap3min4=-168; sgap4=-225;
sgap4min0=154; sgap4min1=236; sgap4min2=67; sgap4min3=-375; sgap4min4=-306; sgap5=-318; sgap5min0=96;
sgap5min1=-231; sgap5min2=226; sgap5min3=-218; sgap5min4=-191; sgap6=-337; sgap6min0=-738; sgap6min1=-597;
sgap6min2=162; sgap6min3=43; sgap6min4=-361; sgap7=-485; sgap8=-159; sgap9=-509; smin0=769; smin1=504;
smin2=-167; smin3=-342; smin4=-121; smin5=-100; smin6=-338; smin7=-260; smin8=-36; soverlap0=-645;
soverlap1=-305; soverlap2=-242; soverlap3=-220; soverlap4=388; soverlap5=932; sown0=460; sown3=-587;
spANAPHORA=63; spANSWER=103; spCLOSING=-241; spCOMMAND=-110; spGREETING=-252; spOPENING=-180; spTHANKS=-287;
spcommand0=109; spcommand1=-226; spcommand2=462; spcommand3=-270; spcommand4=-186; spqtaken0gap0=565;
spqtaken0gap1=33; spqtaken0gap2=369; spqtaken0gap4=157; spqtaken0gap5=246; spqtaken1gap1=-1065;
spqtaken1gap2=-103; spqtaken1gap3=-568; spqtaken1gap4=-177; spqtaken1gap5=206; spwords0=-764; spwords1=-616;
spwords3=282; spwords4=404; spwords5=579; sq00=558; sq01=-70; sq10=-326; sq11=-253; srank0=460; srank3=89;
srank4=-676; sroot=261; staken0=156; staken1=-312; staken2=-91; staken3=156; stakenown0=-470;
stakenown2=399; sthanks0=-185; sthanks1=-88; sto00=-221; sto01=-212; sto0rank0=164; sto0rank1=62;
sto0rank2=-230; sto0rank3=-428; sto10=1154; sto11=-813; sto1rank0=296; sto1rank1=-44; sto1rank2=248;
sto1rank3=-159; stranger00=-35; stranger01=-652; swords0=-92; swords1=161; swords2=86; swords5=-206
"""

CHANNEL: Final = weights(_TABLE)

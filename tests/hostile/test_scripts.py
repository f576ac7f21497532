"""Texts in any script go in and are found again by a question in that script."""

# ruff: noqa: RUF001 - letters of other scripts are what is tested

from __future__ import annotations

import pytest

from infra.bootstrap import open_memory
from infra.memory_api import Memory
from infra.models import HashEmbedder
from infra.settings import Settings
from schemas.memory import RecordKind, RecordRow
from schemas.recall import Question
from schemas.space import Space
from tests.fakes.folders import quick_folder
from tests.hostile.case import SPACE, turn
from tests.hostile.payloads import LAST, LONG

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
"""Four people joined to one emoji."""

SCRIPTS = {
    "Chinese": (
        [
            "我妹妹在灯塔的屋顶上养蜜蜂。",
            "昨天厨房的地板塌了。",
            "他买了一辆蓝色自行车。",
        ],
        "谁养蜜蜂？",
    ),
    "Japanese": (
        [
            "妹は灯台の屋根で蜜蜂を飼っています。",
            "台所の床が壊れました。",
            "青い自転車を買いました。",
        ],
        "蜜蜂を飼っているのは誰ですか",
    ),
    "Korean": (
        [
            "여동생은 등대 지붕에서 꿀벌을 키워요.",
            "어제 부엌 바닥이 무너졌어요.",
            "파란 자전거를 샀어요.",
        ],
        "누가 꿀벌을 키워요?",
    ),
    "Thai": (
        [
            "น้องสาวเลี้ยงผึ้งบนหลังคาประภาคาร",
            "พื้นครัวพังเมื่อวาน",
            "เขาซื้อจักรยานสีฟ้า",
        ],
        "ใครเลี้ยงผึ้ง",
    ),
    "Arabic": (
        [
            "أختي تربي النحل على سطح المنارة.",
            "انهارت أرضية المطبخ أمس.",
            "اشترى دراجة زرقاء.",
        ],
        "من تربي النحل؟",
    ),
    "Hebrew": (
        [
            "אחותי מגדלת דבורים על גג המגדלור.",
            "רצפת המטבח קרסה אתמול.",
            "הוא קנה אופניים כחולים.",
        ],
        "מי מגדלת דבורים?",
    ),
    "Hindi": (
        [
            "मेरी बहन लाइटहाउस की छत पर मधुमक्खी पालती है।",
            "कल रसोई का फर्श टूट गया।",
            "उसने नीली साइकिल खरीदी।",
        ],
        "मधुमक्खी कौन पालती है?",
    ),
    "Tamil": (
        [
            "என் தங்கை கலங்கரை விளக்கின் கூரையில் தேனீ வளர்க்கிறாள்.",
            "நேற்று சமையலறை தரை உடைந்தது.",
            "அவன் நீல மிதிவண்டி வாங்கினான்.",
        ],
        "தேனீ வளர்க்கிறாள் யார்?",
    ),
    "Russian": (
        [
            "Моя сестра держит пчёл на крыше маяка.",
            "Вчера на кухне провалился пол.",
            "Он купил синий велосипед.",
        ],
        "Кто держит пчёл?",
    ),
    "Greek": (
        [
            "Η αδελφή μου έχει μέλισσες στη στέγη του φάρου.",
            "Χθες έσπασε το πάτωμα.",
            "Αγόρασε ένα μπλε ποδήλατο.",
        ],
        "Ποιος έχει μέλισσες;",
    ),
    "letters with marks apart": (
        [
            "Ma sœur élève des abeilles à l'écluse de Sète.",
            "Le plancher a cédé.",
            "Il a acheté un vélo.",
        ],
        "Qui e\u0301le\u0300ve des abeilles ?",
    ),
    "emoji with a word": (
        [
            "\U0001f41d bees \U0001f3f3\ufe0f\u200d\U0001f308 on the roof",
            "\U0001f6b2 a blue bicycle",
            "\U0001f373 the kitchen",
        ],
        "bees \U0001f41d",
    ),
    "mathematical letters": (
        [
            "\U0001d413\U0001d421\U0001d41e \U0001d41b\U0001d41e\U0001d41e\U0001d42c are on the roof",
            "a blue bicycle",
            "the kitchen floor",
        ],
        "bees?",
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_found_again(script: str) -> None:
    """The turn is the first hit, word for word."""
    texts, question = SCRIPTS[script]
    with quick_folder() as folder:
        async with open_memory(Settings(home=folder), embedder=HashEmbedder()) as memory:
            await tell(memory, *texts)
            (hit, *_) = (await memory.recall(Space(SPACE), Question(question=question))).hits
    assert (hit.turn_ids, hit.text) == (("0",), texts[0])


@pytest.mark.parametrize(
    "text",
    [
        FAMILY,
        "\U0001f1e9\U0001f1ea \U0001f1eb\U0001f1f7",
        "\U0001f469\U0001f3fd\u200d\U0001f680",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
    ],
)
async def test_emoji_alone(text: str) -> None:
    """Sequences of joiners, flags, skin tones and keycaps are a turn of their own and come back whole."""
    with quick_folder() as folder:
        async with open_memory(Settings(home=folder), embedder=HashEmbedder()) as memory:
            await tell(memory, text, "a blue bicycle", "the kitchen floor")
            hits = (await memory.recall(Space(SPACE), Question(question=text))).hits
    assert [hit.text for hit in hits if hit.turn_ids == ("0",)] == [text]


async def test_a_long_turn_is_found_by_its_last_sentence() -> None:
    """900,000 characters are split into pieces of one turn; the piece that holds the answer is what is shown."""
    with quick_folder() as folder:
        async with open_memory(Settings(home=folder), embedder=HashEmbedder()) as memory:
            await tell(memory, LONG, "a blue bicycle")
            rows = [row for row in memory.rows(Space(SPACE)) if isinstance(row, RecordRow)]
            pieces = sorted((row.piece, row.text) for row in rows if row.kind is RecordKind.TURN and row.since == 0)
            (hit, *_) = (await memory.recall(Space(SPACE), Question(question="Who sold honey?"))).hits
    assert "".join(text for _, text in pieces).replace(" ", "") == LONG.replace(" ", "")
    assert (hit.turn_ids, len(hit.text) < 2000, LAST in hit.text) == (("0",), True, True)


async def tell(memory: Memory, *texts: str) -> None:
    """Publish the texts as turns 0, 1, 2 and remember them."""
    await memory.publish(Space(SPACE), [turn(str(number), text) for number, text in enumerate(texts)])
    await memory.run()

"""Kafka's jars in the cache: complete or not there, once, and the way out where they cannot be had."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.errors import MissingError
from infra.kafka import bring
from infra.kafka.java import java

Programs = Callable[..., None]
ROOT = Path(__file__).resolve().parents[4]
JAVA_17 = """echo 'openjdk version "17.0.15" 2025-04-15' >&2"""
OUTPUT = """for word in "$@"; do case "$word" in -DoutputDirectory=*) out="${word#*=}";; esac; done"""
MAVEN = f"""{OUTPUT}
echo jar > "$out/kafka_2.13-4.4.0.jar"
echo called >> "$(dirname "$0")/calls"
"""
SLOW_MAVEN = f"""{OUTPUT}
echo jar > "$out/kafka_2.13-4.4.0.jar"
touch "$(dirname "$0")/here.$$"
until [ "$(ls "$(dirname "$0")" | grep -c '^here')" -ge 2 ]; do sleep 0.02; done
echo jar > "$out/more.jar"
"""
FAILING_MAVEN = f"""{OUTPUT}
echo half > "$out/kafka_2.13-4.4.0.jar"
printf '\\033[31m[ERROR]\\033[m no such artifact\\n'
exit 1
"""


def test_they_are_brought_once(tmp_path: Path, programs: Programs) -> None:
    programs(java=JAVA_17, mvn=MAVEN)
    folder = bring(tmp_path / "cache")
    assert [path.name for path in folder.iterdir()] == ["kafka_2.13-4.4.0.jar"]
    assert bring(tmp_path / "cache") == folder
    assert (tmp_path / "programs" / "calls").read_text() == "called\n"
    assert list(folder.parent.iterdir()) == [folder]


def test_two_processes_at_once_both_get_them(tmp_path: Path, programs: Programs) -> None:
    programs(java=JAVA_17, mvn=SLOW_MAVEN)
    script = "import sys; from pathlib import Path; from infra.kafka import bring; print(bring(Path(sys.argv[1])))"
    command = [sys.executable, "-c", script, str(tmp_path / "cache")]
    both = [subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    (folder,) = (tmp_path / "cache").iterdir()
    assert said == [f"{folder}\n"] * 2
    assert sorted(path.name for path in folder.iterdir()) == ["kafka_2.13-4.4.0.jar", "more.jar"]


@pytest.mark.parametrize(
    ("scripts", "told"),
    [
        ({}, r"Java \(java\) is not on the PATH"),
        ({"java": JAVA_17}, r"Maven \(mvn\) is not on the PATH"),
        ({"java": """echo 'java version "1.8.0_392"' >&2""", "mvn": MAVEN}, r'"1\.8\.0_392".* 17 or newer'),
        ({"java": "echo no runtime >&2; exit 1", "mvn": MAVEN}, r"no runtime"),
    ],
)
def test_what_is_missing_is_named_with_the_way_out(
    tmp_path: Path, programs: Programs, scripts: dict[str, str], told: str
) -> None:
    programs(alone=True, **scripts)
    with pytest.raises(MissingError, match=told) as missing:
        bring(tmp_path / "cache")
    assert "install Java 17 and Maven, or name a running broker in ANABRANCH_KAFKA" in str(missing.value)
    assert missing.value.exit_code == 3
    assert not (tmp_path / "cache").exists()


def test_when_maven_fails_nothing_is_kept_and_its_words_are_told(tmp_path: Path, programs: Programs) -> None:
    programs(java=JAVA_17, mvn=FAILING_MAVEN)
    with pytest.raises(MissingError, match=r"exit code 1\):\n\[ERROR\] no such artifact\n.*ANABRANCH_KAFKA"):
        bring(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_maven_that_brings_nothing_is_no_success(tmp_path: Path, programs: Programs) -> None:
    programs(java=JAVA_17, mvn="exit 0")
    with pytest.raises(MissingError, match=r"exit code 0\):\nit said nothing"):
        bring(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_is_named(tmp_path: Path, programs: Programs) -> None:
    programs(java=JAVA_17, mvn=MAVEN)
    (tmp_path / "file").touch()
    with pytest.raises(MissingError, match=r"cannot be kept in .*file/cache"):
        bring(tmp_path / "file" / "cache")


def test_the_java_of_this_machine_will_do() -> None:
    assert Path(java()).is_file()

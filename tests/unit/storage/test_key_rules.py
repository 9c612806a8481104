import pytest

from rlaif.storage.keys import MAX_KEY_BYTES, MAX_PART_BYTES, check_key
from rlaif.storage.ports import InvalidKeyError


@pytest.mark.parametrize(
    "key",
    ["a", "a/b", ".hidden", "a..b", "a b", "é/😀", "100%", "x" * MAX_PART_BYTES, "captures/e/s.d"],
)
def test_a_plain_key_is_given_back(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "0 bytes"),
        ("/a", 'begins or ends with "/"'),
        ("a/", 'begins or ends with "/"'),
        ("a//b", '"//"'),
        ("../a", '".."'),
        ("a/../b", '".."'),
        ("a/..", '".."'),
        ("./a", '"."'),
        ("a\\b", "backslash"),
        ("a\nb", "control"),
        ("a\x00b", "control"),
        ("a\x7fb", "control"),
        ("\ud800", "Unicode"),
        ("é" * (MAX_PART_BYTES // 2) + "x", f"more than {MAX_PART_BYTES} bytes"),
        ("a/" * (MAX_KEY_BYTES // 2) + "ab", f"1 to {MAX_KEY_BYTES}"),
    ],
)
def test_a_bad_key_is_refused_with_the_reason(key: str, reason: str) -> None:
    with pytest.raises(InvalidKeyError, match=reason):
        check_key(key)

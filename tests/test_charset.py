"""Text is read in the charset it names, and in the right one when it names none or a wrong one."""

import encodings.aliases

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spamnb.charset import decode

ENGLISH = "Meeting at noon, bring the papers."
GERMAN = "Schöne Grüße aus München, die Übergabe läuft größtenteils über Zürich."
POLISH = "Zażółć gęślą jaźń, proszę o pilną odpowiedź w sprawie płatności."
GREEK = "Καλημέρα σας, στείλτε μας τα έγγραφα μέχρι την Παρασκευή."
RUSSIAN = "Добрый день, посылаем вам документы по вашему запросу, ответьте пожалуйста."
HEBREW = "שלום רב, נא לשלוח את המסמכים עד יום שישי."
CHINESE = "您好，我公司可以代开发票，请与李先生联系，谢谢合作。"
TAIWANESE = "您好，歡迎參觀我們的網站，請盡快與我們聯絡，謝謝您的支持。"
JAPANESE = "お世話になっております。資料をお送りしますので、ご確認ください。"
KOREAN = "안녕하세요. 요청하신 자료를 보내 드립니다. 확인 부탁드립니다."


@pytest.mark.parametrize(
    ("text", "charset", "codec"),
    [
        (ENGLISH, "us-ascii", "ascii"),
        (ENGLISH, "utf-16", "utf-16"),
        (GERMAN, "utf-8", "utf-8"),
        (GERMAN, "UTF8", "utf-8"),
        (GERMAN, "utf_8", "utf-8"),
        (GERMAN, '"utf-8"', "utf-8"),
        (GERMAN, "ISO-8859-1", "latin-1"),
        (GERMAN, "iso-8859-15", "iso-8859-15"),
        (GERMAN, "utf-7", "utf-7"),
        ("“quotes” — €", "windows-1252", "windows-1252"),
        (POLISH, "iso-8859-2", "iso-8859-2"),
        (POLISH, "windows-1250", "windows-1250"),
        (GREEK, "windows-1253", "windows-1253"),
        (RUSSIAN, "windows-1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "iso-8859-5", "iso-8859-5"),
        (HEBREW, "iso-8859-8-i", "iso-8859-8"),
        (HEBREW, "windows-1255", "windows-1255"),
        (CHINESE, "gb2312", "gb2312"),
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "hz-gb-2312", "hz"),
        (TAIWANESE, "big5", "big5"),
        (JAPANESE, "iso-2022-jp", "iso-2022-jp"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc-jp", "euc-jp"),
        (KOREAN, "euc-kr", "euc-kr"),
        (KOREAN, "ks_c_5601-1987", "euc-kr"),
    ],
)
def test_a_declared_charset_is_obeyed(text, charset, codec):
    assert decode(text.encode(codec), charset) == (text, True)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (ENGLISH, "ascii"),
        (GERMAN, "utf-8"),
        (GERMAN, "latin-1"),
        ("José", "latin-1"),
        ("“quotes” — €", "windows-1252"),
        (RUSSIAN, "utf-8"),
        (RUSSIAN, "windows-1251"),
        (RUSSIAN, "koi8-r"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "iso-2022-jp"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (KOREAN, "euc-kr"),
    ],
)
@pytest.mark.parametrize("charset", ["", "x-unknown", "us-ascii", "iso-9999-9"])
def test_an_undeclared_or_senseless_charset_is_guessed(text, codec, charset):
    assert decode(text.encode(codec), charset)[0] == text


@pytest.mark.parametrize(
    ("text", "codec", "declared"),
    [
        (GERMAN, "utf-8", "iso-8859-1"),
        (GERMAN, "utf-8", "windows-1252"),
        (GERMAN, "latin-1", "utf-8"),
        (GERMAN, "latin-1", "us-ascii"),
        (RUSSIAN, "windows-1251", "iso-8859-1"),
        (RUSSIAN, "koi8-r", "utf-8"),
        (CHINESE, "gb18030", "iso-8859-1"),
        (JAPANESE, "iso-2022-jp", "us-ascii"),
        (KOREAN, "euc-kr", "no such charset"),
    ],
)
def test_a_wrong_charset_is_noticed_and_overruled(text, codec, declared):
    assert decode(text.encode(codec), declared) == (text, False)


def test_text_that_declares_nothing_has_no_wrong_charset():
    assert decode(GERMAN.encode("latin-1"))[1]


def test_a_single_wrong_byte_does_not_spoil_the_rest():
    text, fitted = decode(f"{RUSSIAN}\n".encode().replace(b"\n", b"\xff\n"), "utf-8")
    assert (text, fitted) == (f"{RUSSIAN}�\n", False)


@pytest.mark.parametrize("charset", ["", "utf-8"])
def test_a_character_cut_off_at_the_end_is_no_wrong_charset(charset):
    assert decode(RUSSIAN.rstrip(".").encode()[:-1], charset) == (RUSSIAN.rstrip(".")[:-1] + "�", True)


CHARSETS = st.one_of(
    st.sampled_from(sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values()})),
    st.sampled_from(["utf-8", "utf-7", "hz", "iso-2022-jp", "iso-2022-kr", "gb18030", "big5", "utf-16", "mac-roman"]),
    st.text(max_size=20),
)


@given(st.binary(max_size=200), CHARSETS)
def test_text_that_fits_its_charset_has_no_hole_in_any_charset(raw, charset):
    text, fitted = decode(raw, charset)
    assert not (fitted and charset.strip("\"' ") and "�" in text[:-1])


@given(st.text(alphabet=st.characters(max_codepoint=126, min_codepoint=32), max_size=100), CHARSETS)
def test_plain_ascii_reads_the_same_under_any_label_without_shifts(text, charset):
    assume(not charset.strip("\"' ").lower().startswith(("utf", "hz", "iso-2022")))
    assert decode(text.encode(), charset) == (text, True)

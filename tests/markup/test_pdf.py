"""The text of a PDF: a small one made here, and bytes that are none."""

from __future__ import annotations

import pytest

from nephila.convert.attributes import Parse, attributes
from nephila.markup.pdf import read_pdf
from nephila.urls import NO_RULES


def a_pdf(*pages: str) -> bytes:
    """A PDF with one line of text per page, written by hand."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects.append("<< /Title (A spider) /ModDate (D:20210304050607Z) >>")
    body, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    tail = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R "
    tail += f"/Info {len(objects)} 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + tail.encode()


@pytest.fixture(autouse=True)
def reader() -> None:
    pytest.importorskip("pypdfium2")


def test_pages_title_and_date_are_read() -> None:
    found = read_pdf(a_pdf("Golden orb weavers", "spin large webs"), 1000, 5.0)
    assert found is not None
    assert found.text.split() == ["Golden", "orb", "weavers", "spin", "large", "webs"]
    assert (found.title, found.is_whole, str(found.modified)) == ("A spider", True, "2021-03-04 05:06:07+00:00")


def test_a_long_one_is_read_up_to_the_limits_of_length_and_time() -> None:
    body = a_pdf(*(f"page number {number}" for number in range(50)))
    cut = read_pdf(body, 100, 5.0)
    assert cut is not None and not cut.is_whole and len(cut.text) == 100
    late = read_pdf(body, 10_000, -1.0)
    assert late is not None and not late.is_whole and late.text == ""


def test_convert_reads_a_pdf_like_any_page_and_says_where_it_cannot() -> None:
    found = attributes("http://a.test/x.pdf", a_pdf("Golden orb weavers spin large webs"), None, "application/pdf", "",
                       NO_RULES, 10_000)  # fmt: skip
    assert (found.parse, found.title, found.language) == (Parse.OK, "A spider", "en")
    said = (b"%PDF-1.4 half of one", a_pdf("x" * 20_000), a_pdf(""))
    told = [
        attributes("http://a.test/x.pdf", body, None, "application/pdf", "", NO_RULES, 10_000).parse for body in said
    ]
    assert told == [Parse.OTHER, Parse.OTHER, Parse.EMPTY]

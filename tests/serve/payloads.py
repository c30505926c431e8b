"""Titles that have broken other people's pages, one per page of a hostile site (RELIABILITY C9)."""

from __future__ import annotations

from typing import Final

_ACT: Final = "document.body.dataset.pwned=1"

PAYLOADS: Final[tuple[str, ...]] = (
    f"<script>{_ACT}</script>", f"<SCRIPT>{_ACT}</SCRIPT>", f"</title><script>{_ACT}</script>",
    f"<img src=x onerror={_ACT}>", f'<img src="x" onerror="{_ACT}">', f"<svg onload={_ACT}>",
    f"<svg/onload={_ACT}>", f"<svg><script>{_ACT}</script></svg>", f"<body onload={_ACT}>",
    f"<iframe srcdoc='<script>parent.{_ACT}</script>'></iframe>", f"<iframe src=javascript:parent.{_ACT}></iframe>",
    f"<a href=javascript:{_ACT}>x</a>", f'" onmouseover="{_ACT}" x="', f"' onfocus='{_ACT}' autofocus='",
    f'" autofocus onfocus={_ACT} "', f"<input autofocus onfocus={_ACT}>", f"<details open ontoggle={_ACT}>",
    f"<video><source onerror={_ACT}></video>", f"<audio src onerror={_ACT}>", f"<marquee onstart={_ACT}>",
    f"<object data=javascript:{_ACT}>", f"<embed src=javascript:{_ACT}>", f"<math href=javascript:{_ACT}>x</math>",
    f"<form><button formaction=javascript:{_ACT}>x", "<base href=//evil.test/>",
    "<link rel=stylesheet href=//evil.test/>",
    "<meta http-equiv=refresh content=0;url=//evil.test/>", "<style>@import '//evil.test/';</style>",
    "<!--", "-->", "<![CDATA[", "]]>", "<plaintext>", "<noscript><p title='</noscript><img src=x>'>", "<template>",
    f"<textarea></textarea><script>{_ACT}</script>", f"<xmp></xmp><script>{_ACT}</script>",
    "{{ 7 * 7 }}", "{% include 'base.html' %}", "{{ form_token }}", "${7*7}", "<%= 7*7 %>", "#{7*7}",
    f"\\\"><script>{_ACT}</script>", f"';{_ACT}//", f"\";{_ACT}//", f"</script><script>{_ACT}</script>",
    f"\u003cscript\u003e{_ACT}\u003c/script\u003e", f"&lt;script&gt;{_ACT}&lt;/script&gt;", "&#60;script&#62;",
    "\u202e<script>\u202c", "\u2066\u2067\u2068\u2069", "\x1b]52;c;cHduZWQ=\x07", "\x9b2J", "a\rb\x0bc\x0cd",
    "\u200e\u200f\u061c",
    "\ufeffbom", "\u2028line\u2029", "Z\u0351\u036b\u0343\u036a\u0302" * 8, "\ud55c\uad6d\uc5b4 <b>\uac80\uc0c9</b>",
    "'); DROP TABLE pages;--", "$$; \\copy", "../../../etc/passwd", "C:\\Windows", "x" * 5000,
)  # fmt: skip

"""A certificate that nobody trusts, of another name than the site's; its key is public and guards nothing."""

from __future__ import annotations

from typing import Final

SELF_SIGNED: Final = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpfTkCxwENj9duztW
Ndct8roPYBquTeXvDM2jEVugEJuhRANCAAQuoFGUz6IiXSgq8xee4A7sXgwrgcxk
nbgs+j3RJkzdSEFwLbXOn8zFyU9x1CDt8aWRy/2RQdyBeTvus6lS5ZAf
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUZujn5b5lwPXwRwdd+AJi6udJ3ZAwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPd3JvbmctbmFtZS50ZXN0MCAXDTI2MTExNjAyMTUwNloYDzIw
NTEwNzA4MDIxNTA2WjAaMRgwFgYDVQQDDA93cm9uZy1uYW1lLnRlc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQuoFGUz6IiXSgq8xee4A7sXgwrgcxknbgs+j3R
JkzdSEFwLbXOn8zFyU9x1CDt8aWRy/2RQdyBeTvus6lS5ZAfo1MwUTAdBgNVHQ4E
FgQU/BDdwANTW4KzWCDhh/Z1i2/uU4gwHwYDVR0jBBgwFoAU/BDdwANTW4KzWCDh
h/Z1i2/uU4gwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA8VGL
c9xM/hN1JvLcTnRjsXuFvjOxN62K3SXo0aCsHbUCIE9DSdg9xcidLXKGGYpvnN2U
/KEMgcuzUOEZZn+T4vBi
-----END CERTIFICATE-----
"""

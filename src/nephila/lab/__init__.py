"""The lab: a web in a box, computed from a seed and served on this machine alone.

The life of a request here: a client asks the lab's name server for a host (`dns`), gets the site's own 127.x.y.z and
connects (`server`, `protocol`). The web (`web`) computes an `Answer` from host, path and simulated time; nothing is
stored. The answer becomes a script of bytes and pauses (`wire`), which the connection acts out, whole or broken as
planted. The witness writes one line about it (`request_log`), from which a test reads how polite a crawl was
(`witness`), and the truth (`truth`) says what the crawl should have found. `LabServer` (`serve`) runs all of it as
processes that share one clock.
"""

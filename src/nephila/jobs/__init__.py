"""Jobs: what composes rooms. A job calls the rooms' front doors one after the other; the files between them stay.

`demo` is the whole circle on the lab's web, as far as there are rooms.
"""

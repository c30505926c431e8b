/* The compiled form of nephila.markup.tokens: one pass over the bytes of a page, no recursion, no looking back.
 *
 * A descendant of S3-10's finite-state machine with the states of the HTML5 tokenizer that decide where a tag begins
 * and ends. tokens.py tells what every value means; both forms give equal results for every input, and the tests hold
 * them to it. Every byte is read a bounded number of times; what is kept is bounded by the limits and by the body.
 * One long file, because a tokenizer in several would need its state in a header that nothing else reads.
 */
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef const unsigned char *Place;
typedef struct { Place at; Py_ssize_t n; } Span; /* at == NULL: not there */

enum { ORIGIN_A, ORIGIN_AREA, ORIGIN_FRAME, ORIGIN_IFRAME };
enum { MARK_BASE, MARK_LINK, MARK_ROBOTS, MARK_REFRESH };

typedef struct { Span href, src, rel, name, content, http_equiv; int has_code, self_closing; } Tag;
typedef struct { Span href; uint64_t hash; int origin, nofollow; Py_ssize_t anchor_at, anchor_n; } Found;

typedef struct {
    Place end;
    Py_ssize_t max_links, max_href, max_anchor, max_title;
    Py_ssize_t link_count, too_long;
    Found *found; Py_ssize_t found_n, found_room;
    int32_t *slots; Py_ssize_t slots_n;                       /* open addressing over found; -1 is free */
    char *anchors; Py_ssize_t anchors_n, anchors_room;        /* texts of all anchors, one after the other */
    Py_ssize_t open_link, open_at;                            /* the a element whose text is being read, or -1 */
    Py_ssize_t template_depth;
    int foreign;                                              /* inside svg or math, where raw text and CDATA differ */
    PyObject *marks, *scripts, *handlers, *title;
} Page;

static PyTypeObject *link_type;   /* nephila.markup.findings.Link, a tuple of four */
static PyObject *origins[4];      /* and the members of Origin that are found here */
static uint64_t hash_key; /* drawn at import, so that no page can be written to make hrefs collide */

static inline int is_space(unsigned char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
static inline int is_alpha(unsigned char c) { return (unsigned)((c | 32) - 'a') < 26; }
static inline unsigned char lower(unsigned char c) { return (unsigned)(c - 'A') < 26 ? c | 32 : c; }

static int equals(Place at, Py_ssize_t n, const char *word) {
    Py_ssize_t i;
    if (n != (Py_ssize_t)strlen(word)) return 0;
    for (i = 0; i < n; i++) if (lower(at[i]) != (unsigned char)word[i]) return 0;
    return 1;
}

static int contains_nofollow(Span s) {
    Py_ssize_t i;
    for (i = 0; i + 8 <= s.n; i++) if ((s.at[i] | 32) == 'n' && equals(s.at + i, 8, "nofollow")) return 1;
    return 0;
}

static int contains_code(Span s) {
    return s.n >= 8 && (memmem(s.at, s.n, "location", 8) || memmem(s.at, s.n, "window.open", 11));
}

/* A name of at most 8 bytes, lower-cased, in one number: what the switches below compare. 0 for all others. */
static inline uint64_t packed(Place at, Py_ssize_t n) {
    uint64_t word = 0;
    Py_ssize_t i;
    if (n > 8 || (n && !at[0])) return 0;
    for (i = 0; i < n; i++) word = word << 8 | lower(at[i]);
    return word;
}
#define W1(a) ((uint64_t)(a))
#define W2(a, b) (W1(a) << 8 | W1(b))
#define W3(a, b, c) (W2(a, b) << 8 | W1(c))
#define W4(a, b, c, d) (W3(a, b, c) << 8 | W1(d))
#define W5(a, b, c, d, e) (W4(a, b, c, d) << 8 | W1(e))
#define W6(a, b, c, d, e, f) (W5(a, b, c, d, e) << 8 | W1(f))
#define W7(a, b, c, d, e, f, g) (W6(a, b, c, d, e, f) << 8 | W1(g))
#define W8(a, b, c, d, e, f, g, h) (W7(a, b, c, d, e, f, g) << 8 | W1(h))

/* Tags inside which a word goes on: <b>K</b>orea is one word. Every other tag parts words. */
static int is_inline(uint64_t w) {
    switch (w) {
    case W1('b'): case W1('i'): case W1('u'): case W1('s'): case W2('e', 'm'): case W2('t', 't'): case W3('b', 'i', 'g'):
    case W3('s', 'u', 'b'): case W3('s', 'u', 'p'): case W3('w', 'b', 'r'): case W4('f', 'o', 'n', 't'):
    case W4('c', 'o', 'd', 'e'): case W4('m', 'a', 'r', 'k'): case W4('n', 'o', 'b', 'r'): case W4('s', 'p', 'a', 'n'):
    case W5('s', 'm', 'a', 'l', 'l'): case W6('s', 't', 'r', 'o', 'n', 'g'):
        return 1;
    }
    return 0;
}

/* HTML tags that end svg and math wherever they stand (HTML5, "the rules for parsing tokens in foreign content"). */
static int breaks_out(uint64_t w, Place name, Py_ssize_t n) {
    switch (w) {
    case W1('b'): case W1('i'): case W1('p'): case W1('s'): case W1('u'): case W2('b', 'r'): case W2('d', 'd'):
    case W2('d', 'l'): case W2('d', 't'): case W2('e', 'm'): case W2('h', 'r'): case W2('l', 'i'): case W2('o', 'l'):
    case W2('t', 't'): case W2('u', 'l'): case W2('h', '1'): case W2('h', '2'): case W2('h', '3'): case W2('h', '4'):
    case W2('h', '5'): case W2('h', '6'): case W3('b', 'i', 'g'): case W3('d', 'i', 'v'): case W3('i', 'm', 'g'):
    case W3('p', 'r', 'e'): case W3('s', 'u', 'b'): case W3('s', 'u', 'p'): case W3('v', 'a', 'r'):
    case W4('b', 'o', 'd', 'y'): case W4('c', 'o', 'd', 'e'): case W4('h', 'e', 'a', 'd'): case W4('m', 'e', 'n', 'u'):
    case W4('m', 'e', 't', 'a'): case W4('n', 'o', 'b', 'r'): case W4('r', 'u', 'b', 'y'): case W4('s', 'p', 'a', 'n'):
    case W5('e', 'm', 'b', 'e', 'd'): case W5('s', 'm', 'a', 'l', 'l'): case W5('t', 'a', 'b', 'l', 'e'):
    case W6('c', 'e', 'n', 't', 'e', 'r'): case W6('s', 't', 'r', 'i', 'k', 'e'): case W6('s', 't', 'r', 'o', 'n', 'g'):
    case W7('l', 'i', 's', 't', 'i', 'n', 'g'):
    /* and those whose content is HTML again */
    case W4('d', 'e', 's', 'c'): case W5('t', 'i', 't', 'l', 'e'):
        return 1;
    }
    return equals(name, n, "blockquote") || equals(name, n, "foreignobject");
}

/* ---- anchors ---- */

static int append_text(Page *page, Place at, Py_ssize_t n) {
    Py_ssize_t room = page->max_anchor - (page->anchors_n - page->open_at), i;
    if (room <= 0) return 0;
    if (page->anchors_n + room > page->anchors_room) {
        Py_ssize_t wanted = (page->anchors_n + room) * 2;
        char *grown = PyMem_Realloc(page->anchors, wanted);
        if (!grown) { PyErr_NoMemory(); return -1; }
        page->anchors = grown;
        page->anchors_room = wanted;
    }
    for (i = 0; i < n && room > 0; i++) {
        unsigned char c = at[i];
        if (is_space(c) || !c) { /* NUL, which text cannot hold, marks a tag inside a word */
            char last = page->anchors_n == page->open_at ? ' ' : page->anchors[page->anchors_n - 1];
            if (last == ' ' || (!c && !last)) continue;
            if (c) c = ' ';
        }
        page->anchors[page->anchors_n++] = (char)c;
        room--;
    }
    return 0;
}

static int append_gap(Page *page, uint64_t word) {
    return page->open_link < 0 ? 0 : append_text(page, (Place)(is_inline(word) ? "\0" : " "), 1);
}

static void close_anchor(Page *page) {
    if (page->open_link < 0) return;
    page->found[page->open_link].anchor_at = page->open_at;
    page->found[page->open_link].anchor_n = page->anchors_n - page->open_at;
    page->open_link = -1;
}

/* ---- links, one entry per href and origin ---- */

static uint64_t hash_of(Span s, int origin) {
    const uint64_t prime = ((uint64_t)1 << 61) - 1;
    uint64_t h = (uint64_t)s.n * 4 + origin;
    Py_ssize_t i = 0;
    while (i < s.n) { /* a polynomial in the secret key over chunks of 7 bytes */
        uint64_t chunk = 0;
        unsigned __int128 wide;
        memcpy(&chunk, s.at + i, s.n - i < 7 ? s.n - i : 7);
        wide = (unsigned __int128)h * hash_key + chunk;
        h = (uint64_t)(wide & prime) + (uint64_t)(wide >> 61);
        if (h >= prime) h -= prime;
        i += 7;
    }
    return h * 0x9E3779B97F4A7C15u;
}

static int grow_slots(Page *page) {
    Py_ssize_t wanted = page->slots_n ? page->slots_n * 2 : 256, i;
    int32_t *slots = PyMem_Malloc(wanted * sizeof *slots);
    if (!slots) { PyErr_NoMemory(); return -1; }
    memset(slots, 0xff, wanted * sizeof *slots);
    for (i = 0; i < page->found_n; i++) {
        Py_ssize_t at = (Py_ssize_t)(page->found[i].hash >> 20) & (wanted - 1);
        while (slots[at] >= 0) at = (at + 1) & (wanted - 1);
        slots[at] = (int32_t)i;
    }
    PyMem_Free(page->slots);
    page->slots = slots;
    page->slots_n = wanted;
    return 0;
}

/* Without its fragment: what leads to the same page is one link. Not where a "&" may mean that "#" is none,
 * behind a blank, which would then stand at the end and be lost, nor in code. */
static Span without_fragment(Span href) {
    Place mark = memchr(href.at, '#', href.n), p = href.at;
    if (!mark || memchr(href.at, '&', mark - href.at) || (mark > href.at && mark[-1] <= ' ')) return href;
    while (p < mark && is_space(*p)) p++;
    if ((*p | 32) != 'j') href.n = mark - href.at;
    return href;
}

static int add_link(Page *page, Span href, int origin, int nofollow) {
    uint64_t hash;
    Py_ssize_t at;
    Found *link;
    if (!href.at) return 0;
    page->link_count++;
    if (href.n > page->max_href) { page->too_long++; return 0; }
    href = without_fragment(href);
    if (page->found_n * 2 >= page->slots_n && grow_slots(page) < 0) return -1;
    hash = hash_of(href, origin);
    for (at = (Py_ssize_t)(hash >> 20) & (page->slots_n - 1); page->slots[at] >= 0; at = (at + 1) & (page->slots_n - 1)) {
        link = page->found + page->slots[at];
        if (link->hash == hash && link->origin == origin && link->href.n == href.n && !memcmp(link->href.at, href.at, href.n)) {
            link->nofollow &= nofollow;
            if (origin == ORIGIN_A && !link->anchor_n) {
                page->open_link = page->slots[at];
                page->open_at = page->anchors_n;
            }
            return 0;
        }
    }
    if (page->found_n >= page->max_links) return 0;
    if (page->found_n == page->found_room) {
        Py_ssize_t wanted = page->found_room ? page->found_room * 2 : 128;
        Found *grown = PyMem_Realloc(page->found, wanted * sizeof *grown);
        if (!grown) { PyErr_NoMemory(); return -1; }
        page->found = grown;
        page->found_room = wanted;
    }
    page->slots[at] = (int32_t)page->found_n;
    link = page->found + page->found_n;
    *link = (Found){href, hash, origin, nofollow, 0, 0};
    if (origin == ORIGIN_A) {
        page->open_link = page->found_n;
        page->open_at = page->anchors_n;
    }
    page->found_n++;
    return 0;
}

static int append_bytes(PyObject *list, Span s) {
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)s.at, s.n);
    int failed = !bytes || PyList_Append(list, bytes) < 0;
    Py_XDECREF(bytes);
    return failed ? -1 : 0;
}

static int add_mark(Page *page, int mark, Span value, Span rel) {
    PyObject *row;
    int failed;
    if (!value.at || PyList_GET_SIZE(page->marks) >= page->max_links) return 0;
    row = Py_BuildValue("(iy#y#)", mark, value.at, value.n, rel.at ? (const char *)rel.at : "", rel.at ? rel.n : 0);
    failed = !row || PyList_Append(page->marks, row) < 0;
    Py_XDECREF(row);
    return failed ? -1 : 0;
}

/* ---- tags ---- */

/* From the end of the tag's name to after its ">"; NULL if the page ends first: such a tag does not count.
 * With `handlers`, the on… attributes that hold code are appended to it instead. */
static Place read_attributes(Place p, Place end, Tag *tag, PyObject *handlers) {
    while (p < end) {
        Place name = p, value;
        Py_ssize_t name_n;
        Span *slot = NULL, found;
        if (*p == '>') { tag->self_closing = p[-1] == '/' && tag->self_closing; return p + 1; }
        if (is_space(*p)) { p++; continue; }
        if (*p == '/') { tag->self_closing = 1; p++; continue; }
        for (p++; p < end && !is_space(*p) && *p != '/' && *p != '>' && *p != '='; p++) {}
        name_n = p - name;
        for (value = p; value < end && is_space(*value); value++) {}
        found = (Span){p, 0};
        if (value < end && *value == '=') {
            for (value++; value < end && is_space(*value); value++) {}
            if (value >= end) return NULL;
            if (*value == '"' || *value == '\'') {
                p = memchr(value + 1, *value, end - value - 1);
                if (!p) return NULL;
                found = (Span){value + 1, p - value - 1};
                p++;
                tag->self_closing = 0;
            } else {
                for (p = value; p < end && !is_space(*p) && *p != '>'; p++) {}
                found = (Span){value, p - value};
                tag->self_closing = 0; /* a "/" before ">" belongs to an unquoted value */
            }
        }
        if (handlers) {
            if (name_n > 2 && lower(name[0]) == 'o' && lower(name[1]) == 'n' && contains_code(found)
                && append_bytes(handlers, found) < 0) return NULL;
            continue;
        }
        switch (packed(name, name_n)) {
        case W4('h', 'r', 'e', 'f'): slot = &tag->href; break;
        case W3('s', 'r', 'c'): slot = &tag->src; break;
        case W3('r', 'e', 'l'): slot = &tag->rel; break;
        case W4('n', 'a', 'm', 'e'): slot = &tag->name; break;
        case W7('c', 'o', 'n', 't', 'e', 'n', 't'): slot = &tag->content; break;
        case 0: if (equals(name, name_n, "http-equiv")) slot = &tag->http_equiv; break;
        }
        if (name_n > 2 && lower(name[0]) == 'o' && lower(name[1]) == 'n' && found.n >= 8) tag->has_code = 1;
        if (slot && !slot->at) *slot = found; /* the first of equal attributes wins */
    }
    return NULL;
}

/* Where the end tag of a raw text element begins, or the end of the page. */
static Place raw_text_end(Place p, Place end, Place name, Py_ssize_t n) {
    while ((p = memchr(p, '<', end - p)) != NULL) {
        if (end - p > n + 2 && p[1] == '/') {
            Py_ssize_t i = 0;
            while (i < n && lower(p[2 + i]) == lower(name[i])) i++;
            if (i == n && (is_space(p[2 + n]) || p[2 + n] == '/' || p[2 + n] == '>')) return p;
        }
        p++;
    }
    return end;
}

/* The same for script, whose "<!--" hides "<script>…</script>" pairs until "-->". */
static Place script_end(Place p, Place end) {
    enum { PLAIN, ESCAPED, TWICE } state = PLAIN;
    for (; p < end; p++) {
        if (*p == '-') {
            if (state != PLAIN && end - p >= 3 && p[1] == '-' && p[2] == '>') { state = PLAIN; p += 2; }
        } else if (*p == '<') {
            int closing = end - p > 1 && p[1] == '/';
            Place name = p + 1 + closing;
            if (state == PLAIN && end - p >= 4 && !memcmp(p, "<!--", 4)) { state = ESCAPED; p += 1; continue; }
            if (end - name <= 6 || !equals(name, 6, "script") || !(is_space(name[6]) || name[6] == '/' || name[6] == '>')) continue;
            if (closing && state != TWICE) return p;
            if (closing) state = ESCAPED;
            else if (state == ESCAPED) state = TWICE;
        } else {
            /* nothing else matters: jump to the next byte that may */
            if (state == PLAIN) { Place next = memchr(p, '<', end - p); if (!next) return end; p = next - 1; }
        }
    }
    return end;
}

static Place read_start_tag(Page *page, Place name) {
    Place p = name, close;
    Py_ssize_t n;
    Tag tag = {0};
    uint64_t word;
    int live = page->template_depth == 0, failed = 0;
    const Span none = {NULL, 0};
    while (p < page->end && !is_space(*p) && *p != '/' && *p != '>') p++;
    n = p - name;
    close = p;
    p = read_attributes(p, page->end, &tag, NULL);
    if (!p) return NULL;
    word = packed(name, n);
    if (tag.has_code && live) {
        Tag ignored = {0};
        if (!read_attributes(close, page->end, &ignored, page->handlers)) return NULL;
    }
    if (word == W1('a')) close_anchor(page);
    else if (append_gap(page, word) < 0) return NULL;
    if (page->foreign && breaks_out(word, name, n)) {
        /* svg's own title and desc hold HTML but are no title of the page */
        page->foreign = 0;
        if (word == W5('t', 'i', 't', 'l', 'e')) return p;
    }
    switch (word) {
    case W1('a'): if (live) failed = add_link(page, tag.href, ORIGIN_A, tag.rel.at && contains_nofollow(tag.rel)); break;
    case W4('a', 'r', 'e', 'a'): if (live) failed = add_link(page, tag.href, ORIGIN_AREA, tag.rel.at && contains_nofollow(tag.rel)); break;
    case W5('f', 'r', 'a', 'm', 'e'): if (live) failed = add_link(page, tag.src, ORIGIN_FRAME, 0); break;
    case W4('b', 'a', 's', 'e'): if (live) failed = add_mark(page, MARK_BASE, tag.href, none); break;
    case W4('l', 'i', 'n', 'k'): if (live && tag.rel.at) failed = add_mark(page, MARK_LINK, tag.href, tag.rel); break;
    case W4('m', 'e', 't', 'a'):
        if (live && tag.name.at && equals(tag.name.at, tag.name.n, "robots")) failed = add_mark(page, MARK_ROBOTS, tag.content, none);
        if (live && tag.http_equiv.at && equals(tag.http_equiv.at, tag.http_equiv.n, "refresh"))
            failed |= add_mark(page, MARK_REFRESH, tag.content, none);
        break;
    case W8('t', 'e', 'm', 'p', 'l', 'a', 't', 'e'): if (!page->foreign) page->template_depth++; break;
    case W3('s', 'v', 'g'): case W4('m', 'a', 't', 'h'): if (!tag.self_closing) page->foreign = 1; break;
    case W6('i', 'f', 'r', 'a', 'm', 'e'): if (live) failed = add_link(page, tag.src, ORIGIN_IFRAME, 0); /* fall through */
    case W5('s', 't', 'y', 'l', 'e'): case W8('t', 'e', 'x', 't', 'a', 'r', 'e', 'a'): case W3('x', 'm', 'p'):
    case W7('n', 'o', 'e', 'm', 'b', 'e', 'd'): case W8('n', 'o', 'f', 'r', 'a', 'm', 'e', 's'):
        if (!page->foreign) p = raw_text_end(p, page->end, name, n);
        break;
    case W5('t', 'i', 't', 'l', 'e'):
        close = raw_text_end(p, page->end, name, n);
        if (live && page->title == Py_None) {
            PyObject *title = PyBytes_FromStringAndSize((const char *)p, close - p < page->max_title ? close - p : page->max_title);
            if (!title) return NULL;
            Py_SETREF(page->title, title);
        }
        p = close;
        break;
    case W6('s', 'c', 'r', 'i', 'p', 't'):
        if (page->foreign) break;
        close = script_end(p, page->end);
        if (live && contains_code((Span){p, close - p})) failed = append_bytes(page->scripts, (Span){p, close - p});
        p = close;
        break;
    case 0: if (equals(name, n, "plaintext") && !page->foreign) p = page->end; break;
    }
    return failed ? NULL : p;
}

static Place read_end_tag(Page *page, Place name) {
    Place p = name;
    Tag tag = {0};
    uint64_t word;
    while (p < page->end && !is_space(*p) && *p != '/' && *p != '>') p++;
    word = packed(name, p - name);
    p = read_attributes(p, page->end, &tag, NULL);
    if (!p) return NULL;
    if (word == W1('a')) close_anchor(page);
    else if (append_gap(page, word) < 0) return NULL;
    if (word == W3('s', 'v', 'g') || word == W4('m', 'a', 't', 'h')) page->foreign = 0;
    if (word == W8('t', 'e', 'm', 'p', 'l', 'a', 't', 'e') && page->template_depth) page->template_depth--;
    return p;
}

/* From "<!" to after the comment, CDATA section or declaration; the end of the page if it does not end. */
static Place skip_declaration(Page *page, Place p) {
    Place end = page->end, close;
    if (end - p >= 4 && p[2] == '-' && p[3] == '-') {
        if (end - p >= 5 && p[4] == '>') return p + 5;
        if (end - p >= 6 && p[4] == '-' && p[5] == '>') return p + 6;
        for (p += 4; (close = memchr(p, '>', end - p)) != NULL; p = close + 1) {
            /* "-->" or "--!>", neither reaching back before the comment's own "<!--" */
            if (close - p >= 2 && close[-1] == '-' && close[-2] == '-') return close + 1;
            if (close - p >= 3 && close[-1] == '!' && close[-2] == '-' && close[-3] == '-') return close + 1;
        }
        return end;
    }
    if (page->foreign && end - p >= 9 && !memcmp(p + 2, "[CDATA[", 7)) {
        close = memmem(p + 9, end - p - 9, "]]>", 3);
        return close ? close + 3 : end;
    }
    close = memchr(p, '>', end - p);
    return close ? close + 1 : end;
}

static int read_page(Page *page, Place p) {
    Place end = page->end;
    while (p < end) {
        Place lt = memchr(p, '<', end - p), next;
        if (page->open_link >= 0 && append_text(page, p, (lt ? lt : end) - p) < 0) return -1;
        if (!lt || end - lt < 2) break;
        if (is_alpha(lt[1])) {
            next = read_start_tag(page, lt + 1);
        } else if (lt[1] == '/' && end - lt > 2 && is_alpha(lt[2])) {
            next = read_end_tag(page, lt + 2);
        } else if (lt[1] == '!' || lt[1] == '?' || lt[1] == '/') {
            next = lt[1] == '!' ? skip_declaration(page, lt) : memchr(lt, '>', end - lt);
            if (lt[1] != '!' && next) next++;
            if (next && page->open_link >= 0 && append_text(page, (Place) "\0", 1) < 0) return -1;
        } else {
            if (page->open_link >= 0 && append_text(page, lt, 1) < 0) return -1;
            next = lt + 1;
        }
        if (!next) break;
        p = next;
    }
    close_anchor(page);
    return PyErr_Occurred() ? -1 : 0;
}

/* Printable ASCII without "&" needs no decoding: it becomes text here, without the blanks around it. */
static PyObject *text_or_bytes(const char *at, Py_ssize_t n) {
    PyObject *text;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c < ' ' || c > '~' || c == '&') return PyBytes_FromStringAndSize(at, n);
    }
    while (n && *at == ' ') { at++; n--; }
    while (n && at[n - 1] == ' ') n--;
    text = PyUnicode_New(n, 127);
    if (text && n) memcpy(PyUnicode_1BYTE_DATA(text), at, n);
    return text;
}

/* A Link, or a plain tuple where something is left to decode or the href may be code (javascript:). */
static PyObject *link_row(Page *page, Found *link) {
    PyObject *href = text_or_bytes((const char *)link->href.at, link->href.n);
    PyObject *anchor = href ? text_or_bytes(link->anchor_n ? page->anchors + link->anchor_at : "", link->anchor_n) : NULL;
    PyObject *row = NULL;
    if (anchor) {
        int ready = PyUnicode_Check(href) && PyUnicode_Check(anchor)
                    && !(PyUnicode_GET_LENGTH(href) && (PyUnicode_READ_CHAR(href, 0) | 32) == 'j');
        row = ready ? link_type->tp_alloc(link_type, 4) : PyTuple_New(4);
    }
    if (!row) {
        Py_XDECREF(href);
        Py_XDECREF(anchor);
        return NULL;
    }
    PyTuple_SET_ITEM(row, 0, href);
    PyTuple_SET_ITEM(row, 1, Py_NewRef(origins[link->origin]));
    PyTuple_SET_ITEM(row, 2, Py_NewRef(link->nofollow ? Py_True : Py_False));
    PyTuple_SET_ITEM(row, 3, anchor);
    return row;
}

static PyObject *tokenise(PyObject *self, PyObject *args) {
    Page page = {0};
    Py_buffer body;
    PyObject *links = NULL, *result = NULL;
    Py_ssize_t i;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*nnnn:tokenise", &body, &page.max_links, &page.max_href, &page.max_anchor, &page.max_title)) return NULL;
    page.end = (Place)body.buf + body.len;
    page.open_link = -1;
    page.marks = PyList_New(0);
    page.scripts = PyList_New(0);
    page.handlers = PyList_New(0);
    page.title = Py_NewRef(Py_None);
    if (page.marks && page.scripts && page.handlers && read_page(&page, body.buf) == 0) links = PyList_New(page.found_n);
    for (i = 0; links && i < page.found_n; i++) {
        PyObject *row = link_row(&page, page.found + i);
        if (!row) Py_CLEAR(links);
        else PyList_SET_ITEM(links, i, row);
    }
    if (links) result = Py_BuildValue("(NnnOOOO)", links, page.link_count, page.too_long, page.marks, page.scripts, page.handlers,
                                       page.title);
    Py_XDECREF(page.marks);
    Py_XDECREF(page.scripts);
    Py_XDECREF(page.handlers);
    Py_XDECREF(page.title);
    PyMem_Free(page.found);
    PyMem_Free(page.slots);
    PyMem_Free(page.anchors);
    PyBuffer_Release(&body);
    return result;
}

static PyMethodDef methods[] = {
    {"tokenise", tokenise, METH_VARARGS, "tokenise(body, max_links, max_href, max_anchor, max_title): see nephila.markup.tokens"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_scan", "The compiled form of nephila.markup.tokens.", -1, methods, NULL, NULL, NULL, NULL};

static int learn_rows(void) {
    static const char *const names[] = {"A", "AREA", "FRAME", "IFRAME"};
    PyObject *findings = PyImport_ImportModule("nephila.markup.findings"), *link = NULL, *origin = NULL;
    int i, failed;
    if (findings) link = PyObject_GetAttrString(findings, "Link");
    if (link) origin = PyObject_GetAttrString(findings, "Origin");
    failed = !origin;
    if (!failed && !(PyType_Check(link) && PyType_IsSubtype((PyTypeObject *)link, &PyTuple_Type))) {
        PyErr_SetString(PyExc_TypeError, "nephila.markup.findings.Link must be a tuple");
        failed = 1;
    }
    for (i = 0; !failed && i < 4; i++) failed = !(origins[i] = PyObject_GetAttrString(origin, names[i]));
    if (!failed) link_type = (PyTypeObject *)Py_NewRef(link);
    Py_XDECREF(findings);
    Py_XDECREF(link);
    Py_XDECREF(origin);
    return failed ? -1 : 0;
}

PyMODINIT_FUNC PyInit__scan(void) {
    PyObject *os = PyImport_ImportModule("os"), *drawn = os ? PyObject_CallMethod(os, "urandom", "i", 8) : NULL;
    Py_XDECREF(os);
    if (!drawn) return NULL;
    memcpy(&hash_key, PyBytes_AS_STRING(drawn), sizeof hash_key);
    hash_key &= ((uint64_t)1 << 60) - 1;
    Py_DECREF(drawn);
    return learn_rows() < 0 ? NULL : PyModule_Create(&module);
}

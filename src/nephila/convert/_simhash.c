/* The simhash of a text: the twin of simhash.py's `plain_simhash`, which says what the steps mean.
 *
 * The steps are a dozen operations on each character, and numpy's calls cost more than they do. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define PASSAGE 6
#define MIN_PASSAGES 16
#define CHOSEN (1u << 29)
#define BLANK 0x20u
#define NO_BREAK 0xA0u

static const uint32_t HALVES[2] = {0x2545F491u, 0x9E3779B1u};

static inline uint32_t mix(uint32_t word)
{
    word ^= word >> 16;
    word *= 0x85EBCA6Bu;
    word ^= word >> 13;
    word *= 0xC2B2AE35u;
    return word ^ (word >> 16);
}

/* The code points with each run of blanks as one, none at the end; lone surrogates as the twin's encoding has them. */
static Py_ssize_t plain(PyObject *text, uint32_t *characters)
{
    int kind = PyUnicode_KIND(text);
    const void *start = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), kept = 0;
    int after_blank = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        uint32_t character = PyUnicode_READ(kind, start, i);
        if (character <= BLANK || character == NO_BREAK) {
            after_blank = 1;
            continue;
        }
        if (after_blank)
            characters[kept++] = BLANK;
        after_blank = 0;
        characters[kept++] = character >= 0xD800u && character <= 0xDFFFu ? '?' : character;
    }
    return kept;
}

/* How many distinct hashes there are, moved to the front; `table` has at least twice as many places, a power of two. */
static Py_ssize_t distinct(uint32_t *hashes, Py_ssize_t count, uint32_t *table, uint32_t places)
{
    Py_ssize_t kept = 0;
    int zero_seen = 0; /* 0 marks an empty place, so that a hash of 0 is remembered apart */
    memset(table, 0, places * sizeof *table);
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t hash = hashes[i], place = (hash * 0x9E3779B1u) & (places - 1);
        if (hash == 0) {
            if (!zero_seen)
                hashes[kept++] = 0;
            zero_seen = 1;
            continue;
        }
        while (table[place] != 0 && table[place] != hash)
            place = (place + 1) & (places - 1);
        if (table[place] == 0) {
            table[place] = hash;
            hashes[kept++] = hash;
        }
    }
    return kept;
}

static uint64_t majority(const uint32_t *hashes, Py_ssize_t count)
{
    uint32_t ones[64] = {0};
    uint64_t result = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        for (int half = 0; half < 2; half++) {
            uint32_t wide = mix(hashes[i] * HALVES[half]);
            for (int bit = 0; bit < 32; bit++)
                ones[32 * half + bit] += (wide >> bit) & 1u;
        }
    for (int bit = 0; bit < 64; bit++)
        if ((uint64_t)ones[bit] * 2 > (uint64_t)count)
            result |= 1ULL << bit;
    return result;
}

/* simhash(text): of a text already cut, stripped and in lower case. */
static PyObject *simhash(PyObject *Py_UNUSED(module), PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "simhash takes a str, not %s", Py_TYPE(text)->tp_name);
    size_t length = (size_t)PyUnicode_GET_LENGTH(text);
    uint32_t places = 64, factors[PASSAGE], factor = 1;
    while (places < 2 * length)
        places *= 2;
    uint32_t *room = PyMem_Malloc((3 * length + places + 1) * sizeof *room);
    if (room == NULL)
        return PyErr_NoMemory();
    uint32_t *characters = room, *hashes = room + length, *chosen = room + 2 * length, *table = room + 3 * length;
    Py_ssize_t passages = plain(text, characters) - PASSAGE + 1, picked = 0;
    if (passages <= MIN_PASSAGES) {
        PyMem_Free(room);
        Py_RETURN_NONE;
    }
    for (int i = 0; i < PASSAGE; i++)
        factors[i] = factor *= 0x9E3779B1u;
    for (Py_ssize_t i = 0; i < passages; i++) {
        uint32_t hash = 0;
        for (int place = 0; place < PASSAGE; place++)
            hash += characters[i + place] * factors[place];
        hashes[i] = mix(hash);
    }
    for (Py_ssize_t i = 0; i < passages; i++) {
        chosen[picked] = hashes[i];
        picked += hashes[i] < CHOSEN;
    }
    if (picked < MIN_PASSAGES) {
        chosen = hashes;
        picked = passages;
    }
    uint64_t result = majority(chosen, distinct(chosen, picked, table, places));
    PyMem_Free(room);
    return PyLong_FromLongLong((int64_t)result);
}

static PyMethodDef methods[] = {
    {"simhash", simhash, METH_O, "The 64-bit simhash of a text, or None where it is too short."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_simhash", "The simhash of a text.", -1, methods,
                                    NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__simhash(void) { return PyModule_Create(&module); }

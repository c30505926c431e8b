/* The hash under all of the lab's draws: the twin of mixing.py, which says what each function means.
 *
 * A page takes some thirty draws, and 64-bit arithmetic on Python's own integers costs five times what it does here.
 * Every argument is taken modulo 2^64, as the twin's `& MASK` takes it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define GOLDEN 0x9E3779B97F4A7C15ULL

static inline uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
}

static inline int word_of(PyObject *number, uint64_t *word)
{
    *word = PyLong_AsUnsignedLongLongMask(number);
    return *word == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

static PyObject *hash_of(PyObject *const *parts, Py_ssize_t count)
{
    uint64_t key = 0, part;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (word_of(parts[i], &part))
            return NULL;
        key = mix(key + GOLDEN + part);
    }
    return PyLong_FromUnsignedLongLong(key);
}

static PyObject *draw(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    uint64_t key, number;
    if (count != 2)
        return PyErr_Format(PyExc_TypeError, "draw takes a key and a number, not %zd arguments", count);
    if (word_of(args[0], &key) || word_of(args[1], &number))
        return NULL;
    return PyLong_FromUnsignedLongLong(mix(key + number * GOLDEN));
}

static PyObject *key_of(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    return hash_of(args, count);
}

static PyObject *site_key(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    if (count != 3)
        return PyErr_Format(PyExc_TypeError, "site_key takes seed, site and stream, not %zd arguments", count);
    return hash_of(args, count);
}

static PyMethodDef methods[] = {
    {"draw", (PyCFunction)(void (*)(void))draw, METH_FASTCALL, "The 64-bit draw of one number under a key."},
    {"key_of", (PyCFunction)(void (*)(void))key_of, METH_FASTCALL, "The key of a stream of draws."},
    {"site_key", (PyCFunction)(void (*)(void))site_key, METH_FASTCALL, "The key of a stream of one site."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_mixing", "The hash under all draws.", -1, methods,
                                    NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__mixing(void) { return PyModule_Create(&module); }

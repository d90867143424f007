/* A block of Python strings to UTF-8 with offsets, and back.
 *
 * Encoding reads the strings in place and calls nothing of CPython's, so any thread may do it,
 * attached or not, if somebody owns a reference to each object meanwhile: a string's kind, length
 * and characters do not change once it has been handed out. Decoding makes objects and must be
 * attached.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <string.h>

/* Why encoding stopped at a row. */
enum { ALL_DONE = 0, BUFFER_FULL = 1, NOT_A_STRING = 2, LONE_SURROGATE = 3 };

/* Objects lie where the allocator put them: the one that is needed in so many rows is asked for
 * now. Its header and its characters may be on two cache lines. */
#define AHEAD 24
struct encoder {
    uint8_t* out;
    int64_t used, capacity;
    int replace; /* lone surrogates by U+FFFD */
    int cached;  /* whether the UTF-8 that CPython keeps may be looked at */
};

/* Three or four bytes, written as few times as the text allows: stores are what this loop waits
 * for. */
static inline uint8_t* put(uint8_t* out, uint32_t c) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (c < 0x10000) {
        const uint16_t two = (uint16_t)(0x80E0u | c >> 12 | (c >> 6 & 0x3F) << 8);
        memcpy(out, &two, 2);
        out[2] = (uint8_t)(0x80 | (c & 0x3F));
        return out + 3;
    }
    const uint32_t four =
        0x808080F0u | c >> 18 | (c >> 12 & 0x3F) << 8 | (c >> 6 & 0x3F) << 16 | (c & 0x3F) << 24;
    memcpy(out, &four, 4);
    return out + 4;
#else
    if (c < 0x10000) {
        *out++ = (uint8_t)(0xE0 | c >> 12);
    } else {
        *out++ = (uint8_t)(0xF0 | c >> 18);
        *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    }
    *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    *out++ = (uint8_t)(0x80 | (c & 0x3F));
    return out;
#endif
}

/* Short copies without a call, and without a branch for each length: lengths are as random as the
 * texts, and a branch that is guessed wrong costs more than the copy. Never reads or writes beyond
 * `length`. */
static inline void copy(uint8_t* out, const uint8_t* in, size_t length) {
    if (length > 16) {
        memcpy(out, in, length);
    } else if (length >= 4) {
        /* Four times four bytes that overlap: both ends, and for 8 and more what is between. */
        const size_t step = length >> 3 << 2, last = length - 4;
        uint32_t a, b, c, d;
        memcpy(&a, in, 4);
        memcpy(&b, in + step, 4);
        memcpy(&c, in + last - step, 4);
        memcpy(&d, in + last, 4);
        memcpy(out, &a, 4);
        memcpy(out + step, &b, 4);
        memcpy(out + last - step, &c, 4);
        memcpy(out + last, &d, 4);
    } else if (length > 0) {
        const uint8_t a = in[0], b = in[length >> 1], c = in[length - 1];
        out[0] = a;
        out[length >> 1] = b;
        out[length - 1] = c;
    }
}

static inline int is_surrogate(uint32_t c) { return (c & 0xFFFFF800u) == 0xD800; }

/* One or two bytes, without a branch that depends on the text: two are written, one or two kept. */
static inline uint8_t* put_below_800(uint8_t* out, uint32_t c) {
    const uint32_t wide = c >= 0x80;
    out[0] = (uint8_t)(wide ? 0xC0 | c >> 6 : c);
    out[1] = (uint8_t)(0x80 | (c & 0x3F));
    return out + 1 + wide;
}

/* In long texts eight characters at once where they are ASCII, as most of a European text is. */
static uint8_t* put_latin1(uint8_t* out, const Py_UCS1* in, Py_ssize_t length) {
    Py_ssize_t i = 0;
    while (length >= 32 && i + 8 <= length) {
        uint64_t word;
        memcpy(&word, in + i, 8);
        if ((word & 0x8080808080808080u) == 0) {
            memcpy(out, &word, 8);
            out += 8;
            i += 8;
        } else {
            for (const Py_ssize_t end = i + 8; i < end; ++i) out = put_below_800(out, in[i]);
        }
    }
    for (; i < length; ++i) out = put_below_800(out, in[i]);
    return out;
}

/* One character of any width; null at a lone surrogate, unless it is replaced. */
static inline uint8_t* put_any(uint8_t* out, uint32_t c, int replace) {
    if (c < 0x800) return put_below_800(out, c);
    if (is_surrogate(c)) {
        if (!replace) return NULL;
        c = 0xFFFD;
    }
    return put(out, c);
}

#define LANES(c) (0x0001000100010001u * (uint64_t)(c))
/* Of four numbers of 16 bits: a borrow into the highest bit of a lane that did not have it. Exact
 * in the lowest lane that is zero, which is all that is asked. */
#define NO_LANE_IS_ZERO(x) ((((x) - LANES(1)) & ~(x) & LANES(0x8000)) == 0)

/* Four characters at once where all are below U+0800 and none is ASCII, as in a Greek or Cyrillic
 * word: each is two bytes, and those are its lane. */
static uint8_t* put_ucs2(uint8_t* out, const Py_UCS2* in, Py_ssize_t length, int replace) {
    Py_ssize_t i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 4 <= length; i += 4) {
        uint64_t four;
        memcpy(&four, in + i, 8);
        if ((four & LANES(0xF800)) == 0 && NO_LANE_IS_ZERO(four & LANES(0x0780))) {
            four = (four >> 6 & LANES(0x1F)) | (four & LANES(0x3F)) << 8 | LANES(0x80C0);
            memcpy(out, &four, 8);
            out += 8;
            continue;
        }
        /* Or all are from U+0800 on and none is half of a pair, as in Chinese or Hindi. */
        const uint64_t high = four & LANES(0xF800), pair = high ^ LANES(0xD800);
        if (NO_LANE_IS_ZERO(high) && NO_LANE_IS_ZERO(pair)) {
            for (Py_ssize_t k = i; k < i + 4; ++k) out = put(out, in[k]);
            continue;
        }
        for (Py_ssize_t k = i; k < i + 4; ++k) {
            out = put_any(out, in[k], replace);
            if (!out) return NULL;
        }
    }
#endif
    for (; i < length; ++i) {
        out = put_any(out, in[i], replace);
        if (!out) return NULL;
    }
    return out;
}

static uint8_t* put_ucs4(uint8_t* out, const Py_UCS4* in, Py_ssize_t length, int replace) {
    for (Py_ssize_t i = 0; i < length; ++i) {
        out = put_any(out, in[i], replace);
        if (!out) return NULL;
    }
    return out;
}

/* Whatever is not compact ASCII. Returns why it stopped, or ALL_DONE. */
static int encode_other(struct encoder* to, PyObject* object) {
    const Py_ssize_t length = PyUnicode_GET_LENGTH(object);
    const int kind = PyUnicode_KIND(object);
    const void* characters = PyUnicode_DATA(object);
    uint8_t* out = to->out + to->used;
    if (PyUnicode_IS_ASCII(object)) { /* an instance of a subclass */
        if (to->capacity - to->used < length) return BUFFER_FULL;
        copy(out, characters, (size_t)length);
        to->used += length;
        return ALL_DONE;
    }
    if (to->cached && PyUnicode_IS_COMPACT(object)) {
        // ANCHOR: cached
        PyCompactUnicodeObject* compact = (PyCompactUnicodeObject*)object;
        /* Acquire: pairs with the release store of the pointer in CPython's unicodeobject.c, which
         * comes after the bytes and their length. */
        const char* utf8 = __atomic_load_n(&compact->utf8, __ATOMIC_ACQUIRE);
        if (utf8) {
            const Py_ssize_t bytes = __atomic_load_n(&compact->utf8_length, __ATOMIC_RELAXED);
            if (to->capacity - to->used < bytes) return BUFFER_FULL;
            copy(out, (const uint8_t*)utf8, (size_t)bytes);
            to->used += bytes;
            return ALL_DONE;
        }
        // ANCHOR_END: cached
    }
    /* A character of 1, 2 or 4 bytes needs at most 2, 3 or 4 in UTF-8. */
    const int most = kind == PyUnicode_1BYTE_KIND ? 2 : kind == PyUnicode_2BYTE_KIND ? 3 : 4;
    if (to->capacity - to->used < (int64_t)length * most) return BUFFER_FULL;
    uint8_t* end = kind == PyUnicode_1BYTE_KIND   ? put_latin1(out, characters, length)
                   : kind == PyUnicode_2BYTE_KIND ? put_ucs2(out, characters, length, to->replace)
                                                  : put_ucs4(out, characters, length, to->replace);
    if (!end) return LONE_SURROGATE;
    to->used += end - out;
    return ALL_DONE;
}

/* Encodes rows `*row` to `rows - 1`; `offsets[*row]` holds where to begin. Writes the offset behind
 * each row and clears the bit of each None in `validity`, which is all ones. Stops at a row for one
 * of the reasons above, with `*row` and `needed` (bytes for that row at most) telling where. */
int ungil_strings_encode(PyObject* const* objects, int64_t rows, int64_t* row, int64_t* offsets,
                         uint8_t* validity, int64_t* nulls, uint8_t* out, int64_t capacity,
                         int replace, int cached, int64_t* needed) {
    struct encoder to = {out, offsets[*row], capacity, replace, cached};
    int why = ALL_DONE;
    int64_t at = *row;
    for (; at < rows; ++at) {
        // ANCHOR: ahead
        if (at + AHEAD < rows) {
            __builtin_prefetch(objects[at + AHEAD]);
            __builtin_prefetch((const char*)objects[at + AHEAD] + 64);
        }
        // ANCHOR_END: ahead
        PyObject* object = objects[at];
        // ANCHOR: ascii
        if (PyUnicode_CheckExact(object) && PyUnicode_IS_COMPACT_ASCII(object)) {
            const Py_ssize_t length = PyUnicode_GET_LENGTH(object);
            if (to.capacity - to.used < length) {
                why = BUFFER_FULL;
                break;
            }
            copy(to.out + to.used, PyUnicode_1BYTE_DATA(object), (size_t)length);
            to.used += length;
        } else if (object == Py_None) {
            validity[at >> 3] &= (uint8_t)~(1u << (at & 7));
            ++*nulls;
        } else if (PyUnicode_Check(object)) {
            why = encode_other(&to, object);
            if (why != ALL_DONE) break;
        } else {
            why = NOT_A_STRING;
            break;
        }
        offsets[at + 1] = to.used;
        // ANCHOR_END: ascii
    }
    *row = at;
    *needed = why == BUFFER_FULL ? 4 * (int64_t)PyUnicode_GET_LENGTH(objects[at]) : 0;
    return why;
}

static inline int is_ascii(const uint8_t* bytes, size_t length) {
    uint64_t all = 0;
    size_t i = 0;
    for (uint64_t word; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        all |= word;
    }
    for (; i < length; ++i) all |= (uint64_t)bytes[i] << 56;
    return (all & 0x8080808080808080u) == 0;
}

/* Makes a string of each row that is valid and None of the others, as new references in `objects`.
 * Attached. Returns the number of rows made: fewer than `rows` with an exception set. */
int64_t ungil_strings_decode(const int64_t* offsets, const uint8_t* bytes, const uint8_t* validity,
                             int64_t rows, PyObject** objects) {
    for (int64_t row = 0; row < rows; ++row) {
        if (validity && !(validity[row >> 3] >> (row & 7) & 1)) {
            objects[row] = Py_NewRef(Py_None);
            continue;
        }
        const uint8_t* from = bytes + offsets[row];
        const Py_ssize_t length = (Py_ssize_t)(offsets[row + 1] - offsets[row]);
        PyObject* text;
        if (length > 1 && is_ascii(from, (size_t)length)) {
            text = PyUnicode_New(length, 127);
            if (text) copy(PyUnicode_1BYTE_DATA(text), from, (size_t)length);
        } else {
            /* Also the empty string and those of one character, which CPython keeps. */
            text = PyUnicode_DecodeUTF8((const char*)from, length, NULL);
        }
        if (!text) return row;
        objects[row] = text;
    }
    return rows;
}

/* SPDX-License-Identifier: MIT */
/* cie.c -- see cie.h. It reads the table as foreign bytes, on the sampler
 * thread. */
#include <string.h>

#include "cfi_bytes.h"
#include "pages.h"
#include "cie.h"
#include "base/poison.h"

/* The only encoding of pointers in FDEs that is read here (LSB, "DWARF
 * exception header encoding"). */
#define ENCODING_PCREL_SDATA4 0x1b

/* Limit of the length of a CIE in bytes. Compilers make some of 20. */
#define CIE_MAX 128u

/* Take the data that the letters of AUGMENTATION after its "z" announce.
 * Returns false if a pointer has another form. */
static bool
take_augmentation(struct bytes *bytes, const char *augmentation,
                  struct cie *cie)
{
    for (const char *c = augmentation; *c != '\0' && !bytes->bad; c++) {
        /* Signal frame; key of signatures, and tagged stack (AADWARF64). */
        bool is_bare = *c == 'S' || *c == 'B' || *c == 'G';
        uint64_t encoding = is_bare ? 0 : take_byte(bytes);
        cie->is_signal |= *c == 'S';
        if (*c == 'R' && encoding != ENCODING_PCREL_SDATA4)
            return false;
        if (*c == 'P')
            skip_bytes(bytes, (encoding & 7) == 3 ? 4 : 8);
    }
    return !bytes->bad;
}

bool
cie_read(struct pages *pages, uint64_t address, struct cie *cie)
{
    uint8_t raw[CIE_MAX];
    uint32_t length;
    if (!pages_read(pages, address, &length, sizeof(length)) || length < 8 ||
        length > sizeof(raw) - 4 ||
        !pages_read(pages, address, raw, length + 4))
        return false;
    struct bytes bytes = {raw + 8, raw + 4 + length, false};
    uint64_t version = take_byte(&bytes);
    const char *augmentation = (const char *)bytes.at;
    size_t letters = strnlen(augmentation, (size_t)(bytes.end - bytes.at));
    if ((version != 1 && version != 3) || augmentation[0] != 'z')
        return false;
    skip_bytes(&bytes, letters + 1);
    *cie = (struct cie){.code_align = take_unsigned(&bytes)};
    cie->data_align = take_signed(&bytes);
    cie->return_register =
        version == 1 ? take_byte(&bytes) : take_unsigned(&bytes);
    uint64_t skip = take_unsigned(&bytes);
    uint64_t left = (uint64_t)(bytes.end - bytes.at);
    if (bytes.bad || skip > left)
        return false;
    cie->length = (uint32_t)(left - skip);
    cie->instructions = address + 4 + length - cie->length;
    return take_augmentation(&bytes, augmentation + 1, cie);
}

/* SPDX-License-Identifier: MIT */
/* A program calls the functions of shared libraries through slots, which the loader fills in from
 * its list of relocations and often makes read-only then.  They are data: a service that may not
 * make memory executable can still have them written to. */
#include "slot.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = -1, GLOB_DAT = -1 }; /* none is found */
#endif

struct program {
    ElfW(Addr) base, sealed, sealed_end; /* what the loader has made read-only, in whole pages */
    ElfW(Addr) dynamic[DT_NUM];
};

static void read_dynamic(struct program *p, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++)
        if (d->d_tag > 0 && d->d_tag < DT_NUM)
            p->dynamic[d->d_tag] = d->d_un.d_val;
}

/* The first object that is shown is the program itself. */
static int look(struct dl_phdr_info *info, size_t size, void *found)
{
    struct program *p = found;
    (void)size;
    p->base = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        ElfW(Addr) at = p->base + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC)
            read_dynamic(p, (const ElfW(Dyn) *)at);
        if (part->p_type == PT_GNU_RELRO) {
            p->sealed = at;
            p->sealed_end = at + part->p_memsz;
        }
    }
    return 1;
}

/* Most loaders replace what the file has here by addresses, some do not. */
static const void *table(const struct program *p, int tag)
{
    ElfW(Addr) at = p->dynamic[tag];
    return (const void *)(at < p->base ? p->base + at : at);
}

static bool write_slot(const struct program *p, ElfW(Addr) slot, void *to)
{
    ElfW(Addr) size = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    ElfW(Addr) page = slot & ~(size - 1);
    bool sealed = page >= (p->sealed & ~(size - 1)) && page < (p->sealed_end & ~(size - 1));
    if (sealed && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
        return false;
    memcpy((void *)slot, &to, sizeof to);
    if (sealed)
        (void)mprotect((void *)page, size, PROT_READ);
    return true;
}

static bool is_slot_of(const struct program *p, const ElfW(Rela) * r, const char *name)
{
    uint64_t info = r->r_info;
    const ElfW(Sym) *symbols = table(p, DT_SYMTAB);
    const char *strings = table(p, DT_STRTAB);
    int kind = (int)ELF64_R_TYPE(info);
    return (kind == JUMP_SLOT || kind == GLOB_DAT) &&
           strcmp(strings + symbols[ELF64_R_SYM(info)].st_name, name) == 0;
}

/* How many slots in one list were written, -1: not all. */
static int redirect(const struct program *p, int list, int length, const char *name, void *to)
{
    const ElfW(Rela) *r = table(p, list);
    int n = 0;
    for (size_t i = p->dynamic[length] / sizeof *r; i > 0; i--, r++)
        if (is_slot_of(p, r, name)) {
            if (!write_slot(p, p->base + r->r_offset, to))
                return -1;
            n++;
        }
    return n;
}

bool slot_redirect(const char *name, void *to)
{
    struct program p = {0};
    dl_iterate_phdr(look, &p);
    int lazy = 0, others = redirect(&p, DT_RELA, DT_RELASZ, name, to);
    if (p.dynamic[DT_PLTREL] == DT_RELA)
        lazy = redirect(&p, DT_JMPREL, DT_PLTRELSZ, name, to);
    return others >= 0 && lazy >= 0 && others + lazy > 0;
}

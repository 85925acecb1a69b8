/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over every file of a folder: the corpus in an ordinary test run. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
    char path[4096];
    uint8_t *data = malloc(1 << 20);
    size_t size;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file || !data) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(data);
        return 0;
    }
    size = fread(data, 1, 1 << 20, file);
    fclose(file);
    /* exactly its size on the heap, so that a read past the end is seen */
    uint8_t *exact = realloc(data, size ? size : 1);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

int main(int argc, char **argv)
{
    int n = 0;
    struct dirent *entry;
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            n += replay(argv[1], entry->d_name);
    closedir(dir);
    printf("%d inputs replayed\n", n);
    return n ? 0 : 1; /* an empty corpus proves nothing */
}

/* The main function of a fuzz target without libFuzzer: runs it over the files
 * named, or over test/fuzz/regression/<name of the program>/ and the empty input. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void run_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    printf("# %s\n", path);
    fflush(stdout);
    uint8_t *copy = fuzz_copy(data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int run_folder(const char *name)
{
    char path[1024];
    int count = 0;
    snprintf(path, sizeof path, "test/fuzz/regression/%s", name);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "test/fuzz/regression/%s/%s", name, entry->d_name);
        run_file(path);
        count++;
    }
    if (folder != NULL) closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    int count = argc - 1;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) run_file(argv[i]);
    if (argc < 2) count = run_folder(slash != NULL ? slash + 1 : argv[0]);
    printf("%d passed, 0 failed\n", count + 1);
    return 0;
}

# The configurations beside the default one. CONFIG=name selects one.

configurations := gcc clang asan m32 s390x small analyse fuzz

ifneq ($(CONFIG),)
ifeq ($(filter $(CONFIG),$(configurations)),)
$(error CONFIG=$(CONFIG): there are $(configurations))
endif
override WERROR := -Werror
endif

ifeq ($(CONFIG),gcc)
# The call graph and each stack frame are written beside the object, for test-house.
override CC := gcc
EXTRA := -fcallgraph-info=su
endif

ifeq ($(CONFIG),clang)
override CC := clang
endif

ifeq ($(CONFIG),asan)
override CC := clang
override OPT := -O1
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

ifeq ($(CONFIG),m32)
override CC := gcc
# The kernel's headers are the same for both sizes of word, but only Debian's
# gcc-multilib puts them where -m32 looks.
ARCH := -m32 -idirafter /usr/include/x86_64-linux-gnu
CMOCKA_BUILD := yes
endif

ifeq ($(CONFIG),s390x)
override CROSS_COMPILE := s390x-linux-gnu-
override CC := s390x-linux-gnu-gcc
override AR := s390x-linux-gnu-ar
EMULATOR := qemu-s390x -L /usr/s390x-linux-gnu
CMOCKA_BUILD := yes
endif

# For `make fuzz`.
ifeq ($(CONFIG),fuzz)
override CC := clang
override OPT := -O1
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# For `make size`.
ifeq ($(CONFIG),small)
override CC := gcc
override OPT := -Os
EXTRA := -fcallgraph-info=su
endif

ifeq ($(CONFIG),analyse)
override CC := gcc
EXTRA := -fanalyzer
endif

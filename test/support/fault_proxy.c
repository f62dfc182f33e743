#include "fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local_service.h"

static void become_proxy(const int input[2], const int output[2])
{
    char target[32];
    snprintf(target, sizeof target, "127.0.0.1:%u", (unsigned)local_service_port());
    dup2(input[0], 0);
    dup2(output[1], 1);
    for (int i = 0; i < 2; i++) {
        close(input[i]);
        close(output[i]);
    }
    execl("/usr/bin/python3", "python3", "test/fault/proxy.py", target, "--hold", (char *)NULL);
    _exit(127);
}

bool fault_proxy_start(fault_proxy *proxy)
{
    int input[2], output[2];
    unsigned first, control = 0;
    memset(proxy, 0, sizeof *proxy);
    if (pipe(input) != 0 || pipe(output) != 0) return false;
    proxy->pid = fork();
    if (proxy->pid == 0) become_proxy(input, output);
    close(input[0]);
    close(output[1]);
    proxy->input = input[1];
    fcntl(proxy->input, F_SETFD, FD_CLOEXEC);
    FILE *said = fdopen(output[0], "r");
    bool good = said && fscanf(said, "port %u control %u", &first, &control) == 2;
    if (said) fclose(said);
    proxy->control = (uint16_t)control;
    if (!good) fprintf(stderr, "test/fault/proxy.py did not start\n");
    return good;
}

void fault_proxy_end(fault_proxy *proxy)
{
    close(proxy->input);
    waitpid(proxy->pid, NULL, 0);
}

static bool ask(fault_port *port, const char *command, char *answer, size_t size)
{
    return fprintf(port->control, "%s\n", command) > 0 && fflush(port->control) == 0 &&
           fgets(answer, (int)size, port->control) && strncmp(answer, "ok", 2) == 0;
}

bool fault_port_open(const fault_proxy *proxy, fault_port *port)
{
    struct sockaddr_in to;
    char answer[64];
    memset(port, 0, sizeof *port);
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons(proxy->control);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) return false;
    port->control = fdopen(fd, "r+");
    if (!port->control || !ask(port, "open", answer, sizeof answer)) return false;
    port->number = (unsigned)strtoul(answer + 3, NULL, 10);
    snprintf(port->url, sizeof port->url, "http://127.0.0.1:%u", port->number);
    return true;
}

void fault_port_close(fault_port *port)
{
    char command[32], answer[64];
    snprintf(command, sizeof command, "close %u", port->number);
    ask(port, command, answer, sizeof answer);
    fclose(port->control);
}

bool fault_port_next(fault_port *port, const char *fault)
{
    char command[96], answer[64];
    snprintf(command, sizeof command, "next %u %s", port->number, fault);
    return ask(port, command, answer, sizeof answer);
}

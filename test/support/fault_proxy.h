/* fault_proxy: test/fault/proxy.py in front of e2b-local, for programs in C. */
#ifndef FAULT_PROXY_H
#define FAULT_PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct fault_proxy {
    pid_t pid;
    int input; /* the proxy ends when this is closed, so also when the program dies */
    uint16_t control;
} fault_proxy;

/* A port of the proxy's, for one thread. */
typedef struct fault_port {
    FILE *control;
    unsigned number;
    char url[40];
} fault_port;

bool fault_proxy_start(fault_proxy *proxy);
void fault_proxy_end(fault_proxy *proxy);

bool fault_port_open(const fault_proxy *proxy, fault_port *port);
void fault_port_close(fault_port *port);

/* The next connection to the port gets this fault ("cut up 17"). */
bool fault_port_next(fault_port *port, const char *fault);

#endif

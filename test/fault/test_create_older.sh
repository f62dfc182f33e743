#!/bin/bash
# create at a service that has only the older route, with the same faults.
E2B_TEST_OLDER=1 LOCAL_OPTIONS='--routes older' exec build/with_local.sh "$E2B_OUT/test/fault/test_create_faults"

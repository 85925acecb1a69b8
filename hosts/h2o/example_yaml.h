/* SPDX-License-Identifier: MIT */
#ifndef TERSE_EXAMPLE_YAML_H
#define TERSE_EXAMPLE_YAML_H

#include <h2o.h>
#include <h2o/configurator.h>

/* The first document of a file; NULL when there is none to be had, and stderr has said why. */
yoml_t *example_yaml_load(const char *filename);
void example_yaml_free(yoml_t *node);

#endif

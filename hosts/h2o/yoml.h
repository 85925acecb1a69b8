/* SPDX-License-Identifier: MIT */
/* A node of H2O's configuration.  h2o/configurator.h includes this file, but the development
 * packages do not ship it, so the layout that H2O 2.2 has is declared here. */
#ifndef yoml_h
#define yoml_h

#include <stddef.h>

typedef struct st_yoml_t yoml_t;

typedef enum enum_yoml_type_t {
    YOML_TYPE_SCALAR,
    YOML_TYPE_SEQUENCE,
    YOML_TYPE_MAPPING,
    YOML__TYPE_UNRESOLVED_ALIAS
} yoml_type_t;

typedef struct st_yoml_sequence_t {
    size_t size;
    yoml_t *elements[1];
} yoml_sequence_t;

typedef struct st_yoml_mapping_element_t {
    yoml_t *key;
    yoml_t *value;
} yoml_mapping_element_t;

typedef struct st_yoml_mapping_t {
    size_t size;
    yoml_mapping_element_t elements[1];
} yoml_mapping_t;

struct st_yoml_t {
    yoml_type_t type;
    char *filename;
    size_t line;
    size_t column;
    char *anchor;
    char *tag;
    size_t _refcnt;
    union {
        char *scalar;
        yoml_sequence_t sequence;
        yoml_mapping_t mapping;
        char *alias;
    } data;
};

#endif

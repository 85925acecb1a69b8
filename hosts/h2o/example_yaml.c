/* SPDX-License-Identifier: MIT */
/* A YAML file as the nodes that H2O's configurators take. */
#include "example_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <yaml.h>

#define DEPTH_MAX 64

static void complain(const char *filename, size_t line, const char *problem)
{
    fprintf(stderr, "[%s:%zu] %s\n", filename, line + 1, problem);
}

static yoml_t *new_node(const yaml_node_t *node, const char *filename, yoml_type_t type, size_t n)
{
    yoml_t *to = h2o_mem_alloc(sizeof *to + n * sizeof *to->data.mapping.elements);
    memset(to, 0, sizeof *to);
    to->type = type;
    to->filename = h2o_strdup(NULL, filename, SIZE_MAX).base;
    to->line = node->start_mark.line;
    to->_refcnt = 1;
    return to;
}

/* libyaml has resolved the aliases: each is its anchor's node, which is converted once more. */
static yoml_t *convert(yaml_document_t *from, int id, const char *filename, int depth)
{
    const yaml_node_t *node = yaml_document_get_node(from, id);
    if (depth == DEPTH_MAX) { /* a node that contains itself, most probably */
        complain(filename, node->start_mark.line, "nested too deeply");
        exit(EX_CONFIG);
    }
    if (node->type == YAML_SEQUENCE_NODE) {
        yaml_node_item_t *item = node->data.sequence.items.start;
        size_t n = (size_t)(node->data.sequence.items.top - item);
        yoml_t *to = new_node(node, filename, YOML_TYPE_SEQUENCE, n);
        while (to->data.sequence.size < n)
            to->data.sequence.elements[to->data.sequence.size++] =
                convert(from, *item++, filename, depth + 1);
        return to;
    }
    if (node->type == YAML_MAPPING_NODE) {
        yaml_node_pair_t *pair = node->data.mapping.pairs.start;
        size_t n = (size_t)(node->data.mapping.pairs.top - pair);
        yoml_t *to = new_node(node, filename, YOML_TYPE_MAPPING, n);
        for (; to->data.mapping.size < n; pair++)
            to->data.mapping.elements[to->data.mapping.size++] =
                (yoml_mapping_element_t){convert(from, pair->key, filename, depth + 1),
                                         convert(from, pair->value, filename, depth + 1)};
        return to;
    }
    yoml_t *to = new_node(node, filename, YOML_TYPE_SCALAR, 0);
    to->data.scalar = h2o_strdup(NULL, (char *)node->data.scalar.value, SIZE_MAX).base;
    return to;
}

yoml_t *example_yaml_load(const char *filename)
{
    yaml_parser_t parser;
    yaml_document_t document;
    yoml_t *root = NULL;
    FILE *file = fopen(filename, "rb");
    if (!file || !yaml_parser_initialize(&parser)) {
        complain(filename, 0, strerror(errno));
        return NULL;
    }
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &document)) {
        complain(filename, parser.problem_mark.line, parser.problem);
    } else {
        if (yaml_document_get_root_node(&document))
            root = convert(&document, 1, filename, 0); /* the first node is the root */
        else
            complain(filename, 0, "nothing in it");
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return root;
}

void example_yaml_free(yoml_t *node)
{
    if (!node || --node->_refcnt > 0)
        return;
    if (node->type == YOML_TYPE_SCALAR)
        free(node->data.scalar);
    for (size_t i = 0; node->type == YOML_TYPE_SEQUENCE && i < node->data.sequence.size; i++)
        example_yaml_free(node->data.sequence.elements[i]);
    for (size_t i = 0; node->type == YOML_TYPE_MAPPING && i < node->data.mapping.size; i++) {
        example_yaml_free(node->data.mapping.elements[i].key);
        example_yaml_free(node->data.mapping.elements[i].value);
    }
    free(node->filename);
    free(node);
}

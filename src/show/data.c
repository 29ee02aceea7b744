/* SPDX-License-Identifier: MIT */
/* data.c -- see data.h. */
#include <inttypes.h>
#include <math.h>

#include "util/quote.h"
#include "data.h"

void
data_begin(struct data *data, FILE *stream, enum data_format format,
           const char *const *keys)
{
    *data = (struct data){.stream = stream, .format = format, .keys = keys};
    if (format == DATA_JSON) {
        fputs("\"rows\": [", stream);
        return;
    }
    for (unsigned i = 0; keys[i] != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", keys[i]);
    fputc('\n', stream);
}

/* Write what stands in front of the next value. */
static void
begin_value(struct data *data)
{
    if (data->format == DATA_JSON) {
        if (data->column == 0)
            fprintf(data->stream, "%s\n{", data->has_rows ? "," : "");
        fprintf(data->stream, "%s\"%s\": ", data->column > 0 ? ", " : "",
                data->keys[data->column]);
    } else if (data->column > 0) {
        fputc(',', data->stream);
    }
    data->has_rows = true;
}

/* A row ends with the value of the last key; there is no call for it. */
static void
end_value(struct data *data)
{
    data->column++;
    if (data->keys[data->column] != NULL)
        return;
    fputs(data->format == DATA_JSON ? "}" : "\n", data->stream);
    data->column = 0;
}

void
data_text(struct data *data, const char *value)
{
    begin_value(data);
    if (data->format == DATA_JSON)
        quote_json(data->stream, value);
    else
        quote_csv(data->stream, value);
    end_value(data);
}

void
data_number(struct data *data, uint64_t value)
{
    begin_value(data);
    fprintf(data->stream, "%" PRIu64, value);
    end_value(data);
}

void
data_truth(struct data *data, bool value)
{
    begin_value(data);
    fputs(value ? "true" : "false", data->stream);
    end_value(data);
}

/* 17 digits are enough to read the same double again. */
void
data_real(struct data *data, double value)
{
    begin_value(data);
    if (isfinite(value))
        fprintf(data->stream, "%.17g", value);
    else if (data->format == DATA_JSON)
        fputs("null", data->stream);
    end_value(data);
}

void
data_end(struct data *data)
{
    if (data->format == DATA_JSON)
        fputs("\n]", data->stream);
}

/* SPDX-License-Identifier: MIT */
/*
 * mandelbrot.c -- a small program to profile: two threads colour the halves of
 * a picture, each pixel by one of two functions, and a third step smooths the
 * result. About two seconds on a present machine. Prints a checksum.
 *
 * Usage: mandelbrot [WIDTH]
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 600 };

struct half {
    float *pixels;
    unsigned width, first_row, end_row;
};

/* How often z = z * z + c stays near 0. This is where the time should go. */
__attribute__((noinline)) static unsigned
escape_count(double re, double im)
{
    double x = 0, y = 0;
    unsigned count = 0;

    while (count < LIMIT && x * x + y * y < 4) {
        double next = x * x - y * y + re;

        y = 2 * x * y + im;
        x = next;
        count++;
    }
    return count;
}

__attribute__((noinline)) static float
shade(unsigned count)
{
    float level = 0;

    for (unsigned i = 1; i <= 8; i++)
        level += sinf((float)(count * i)) / (float)i;
    return level;
}

static void *
colour_half(void *argument)
{
    const struct half *half = argument;

    for (unsigned row = half->first_row; row < half->end_row; row++)
        for (unsigned column = 0; column < half->width; column++) {
            double re = 3.0 * column / half->width - 2.2;
            double im = 3.0 * row / half->width - 1.5;

            half->pixels[row * half->width + column] =
                shade(escape_count(re, im));
        }
    return NULL;
}

__attribute__((noinline)) static double
smooth(float *pixels, unsigned width)
{
    double sum = 0;

    for (unsigned pass = 0; pass < 20; pass++)
        for (unsigned i = width; i < width * width - width; i++) {
            pixels[i] = (pixels[i - 1] + pixels[i + 1] + pixels[i - width] +
                         pixels[i + width]) /
                        4;
            sum += pixels[i];
        }
    return sum;
}

int
main(int argc, char **argv)
{
    unsigned width = argc > 1 ? (unsigned)atoi(argv[1]) : 3000;
    struct half halves[2];
    pthread_t threads[2];
    float *pixels;

    if (width < 16 || width > 20000) {
        fprintf(stderr, "usage: mandelbrot [WIDTH], 16 to 20000\n");
        return 2;
    }
    pixels = calloc((size_t)width * width, sizeof *pixels);
    if (pixels == NULL)
        return 1;

    /* The upper and the lower half mirror each other: equal work. */
    for (unsigned i = 0; i < 2; i++) {
        halves[i] =
            (struct half){pixels, width, i * width / 2, (i + 1) * width / 2};
        if (pthread_create(&threads[i], NULL, colour_half, &halves[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("checksum %.1f\n", smooth(pixels, width));
    free(pixels);
    return 0;
}

# SPDX-License-Identifier: MIT
#
# circles.awk -- the circles in the facts that check_circles.sh collects. A line
# of a fault begins with "! "; what follows it belongs to it.
#
# An edge is KIND SUBSEP FROM SUBSEP TO, where KIND is "files" or "folders".
# why[edge] are the symbols and headers by which FROM uses TO; bound[edge] are
# the names of the C library that FROM uses and TO defines.

$1 == "libc" { libc[$2] = 1 }
$1 == "defines" { unit[$2] = 1; definers[$3] = definers[$3] " " $2 }
$1 == "uses" { unit[$2] = 1; use[++uses] = $2 " " $3 }
$1 == "includes" { includes[$2, $3] = 1; include[++inclusions] = $2 " " $3 }

function folder_of(unit) {
    sub(/\/.*/, "", unit)
    return unit
}

# Which of the definers of NAME it is that UNIT means.
function definer(unit, name,    all, n, i) {
    n = split(definers[name], all, " ")
    for (i = 1; i <= n; i++)
        if (all[i] == unit)
            return unit
    for (i = 1; i <= n; i++)
        if ((unit, all[i]) in includes)
            return all[i]
    for (i = 1; i <= n; i++)
        if (folder_of(all[i]) == folder_of(unit))
            return all[i]
    return all[1]
}

function add(kind, from, to, reason, is_libc,    edge) {
    edge = kind SUBSEP from SUBSEP to
    if (from == to || (edge, reason) in told)
        return
    told[edge, reason] = 1
    if (!(edge in edges))
        targets[kind, from] = targets[kind, from] " " to
    if (is_libc)
        bound[edge] = bound[edge] (bound[edge] == "" ? "" : ", ") reason
    else
        why[edge] = why[edge] (why[edge] == "" ? "" : ", ") reason
    edges[edge] = 1
    node[kind, from] = node[kind, to] = 1
}

function add_use(from, to, name, is_libc) {
    add("files", from, to, name, is_libc)
    add("folders", folder_of(from), folder_of(to),
        name " (" from " -> " to ")", is_libc)
}

# Which units are in the library that has the hooks: those that define a name of
# the C library, and all that these need.
function load(unit,    i, n, all) {
    if (unit in loaded)
        return
    loaded[unit] = 1
    n = split(targets["files", unit], all, " ")
    for (i = 1; i <= n; i++)
        load(all[i])
}

function make_graph(    i, part, to, name, n, all) {
    for (i = 1; i <= uses; i++) {
        split(use[i], part, " ")
        if (!(part[2] in definers) || part[2] in libc)
            continue
        add_use(part[1], definer(part[1], part[2]), part[2], 0)
    }
    for (name in definers)
        if (name in libc) {
            n = split(definers[name], all, " ")
            load(all[1])
        }
    for (i = 1; i <= uses; i++) {
        split(use[i], part, " ")
        if (part[2] in definers && part[2] in libc && part[1] in loaded) {
            # What libc/ defines is the C library's, which all folders use.
            to = definer(part[1], part[2])
            if (folder_of(to) != "libc")
                add_use(part[1], to, part[2], 1)
        }
    }
    for (i = 1; i <= inclusions; i++) {
        split(include[i], part, " ")
        add("folders", folder_of(part[1]), folder_of(part[2]),
            part[1] " includes " part[2] ".h", 0)
    }
}

# Tarjan: component[KIND, NODE] is the number of its circle, members[number]
# what is in it, size[number] how many.
function visit(kind, v,    i, n, all, w) {
    number[v] = low[v] = ++counter
    stack[++depth] = v
    on_stack[v] = 1
    n = split(targets[kind, v], all, " ")
    for (i = 1; i <= n; i++) {
        w = all[i]
        if (!(w in number)) {
            visit(kind, w)
            if (low[w] < low[v])
                low[v] = low[w]
        } else if (w in on_stack && number[w] < low[v])
            low[v] = number[w]
    }
    if (low[v] == number[v]) {
        components++
        do {
            w = stack[depth--]
            delete on_stack[w]
            component[kind, w] = components
            members[components] = members[components] " " w
            size[components]++
        } while (w != v)
    }
}

function find_circles(kind,    key, part) {
    split("", number)
    split("", low)
    split("", on_stack)
    counter = depth = 0
    for (key in node) {
        split(key, part, SUBSEP)
        if (part[1] == kind && !(part[2] in number))
            visit(kind, part[2])
    }
}

function print_circle(kind, c,    edge, part) {
    print "! a circle of " size[c] " " kind ":" members[c]
    fflush()
    for (edge in edges) {
        split(edge, part, SUBSEP)
        if (part[1] == kind &&
            component[kind, part[2]] == c && component[kind, part[3]] == c) {
            if (edge in why)
                print "  " part[2] " -> " part[3] ": " why[edge] | "sort"
            if (edge in bound)
                print "  " part[2] " -> " part[3] ", by hooked names: " \
                    bound[edge] | "sort"
        }
    }
    close("sort")
}

function check(kind,    first, c) {
    first = components + 1
    find_circles(kind)
    for (c = first; c <= components; c++)
        if (size[c] > 1)
            print_circle(kind, c)
}

END {
    make_graph()
    check("files")
    check("folders")
}

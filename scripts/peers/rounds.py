"""Rounds: every client in turn, begun by the next one each time, again where others were on the cores; and ratios by round."""

import statistics


def turns(clients, number):
    """The clients in the order of round `number`."""
    first = number % max(len(clients), 1)
    return clients[first:] + clients[:first]


def undisturbed(clients, run, most, repeats):
    """One round: rows by the client's name, and how often it was carried out again.

    A round is given up, and begun again, at the first run during which others took more than `most` percent of a core, `repeats`
    times at most. The last one is carried out to its end and kept, whoever else was there.
    """
    for repeated in range(repeats + 1):
        rows = {}
        for client in clients:
            rows[client.name] = run(client)
            if rows[client.name]["others"] > most and repeated < repeats:
                break
        else:
            break
    others = max((row["others"] for row in rows.values()), default=0)
    return {"rows": rows, "repeated": repeated, "others": others, "disturbed": others > most}


def by_name(rounds, clients):
    """Each client's rows, in the order of the rounds."""
    return {client.name: [one["rows"][client.name] for one in rounds] for client in clients}


def ratios(rows, reference, column):
    """What each round's figure is to that of the reference in the same round; without rounds that lack either."""
    pairs = zip(rows or [], reference or [])
    return [row[column] / other[column] for row, other in pairs if column in row and other.get(column)]


def spread(values):
    """The median, the least and the most; None without values."""
    return (statistics.median(values), min(values), max(values)) if values else None

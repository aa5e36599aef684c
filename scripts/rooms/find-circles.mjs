/**
 * Finds one circle for each strongly connected set of files in `graph` (file → files it imports),
 * with Tarjan's algorithm.
 */
export function findCircles(graph) {
  const order = new Map()
  const lowest = new Map()
  const stack = []
  const circles = []

  function visit(file) {
    order.set(file, order.size)
    lowest.set(file, order.get(file))
    stack.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)))
    }
    if (lowest.get(file) !== order.get(file)) return
    const knot = stack.splice(stack.indexOf(file))
    if (knot.length > 1 || graph.get(file)?.has(file)) circles.push(shortestRound(graph, knot))
  }

  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return circles
}

/** Returns a shortest circle through the first file of the set, which has to be cut somewhere. */
function shortestRound(graph, knot) {
  const inside = new Set(knot)
  const [start] = knot
  const cameFrom = new Map()
  const queue = [start]
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return [...wayTo(file, cameFrom), start].join(' → ')
      if (!inside.has(next) || cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return knot.join(' → ')
}

function wayTo(file, cameFrom) {
  const way = [file]
  while (cameFrom.has(way[0])) way.unshift(cameFrom.get(way[0]))
  return way
}

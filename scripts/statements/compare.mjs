/**
 * Statements that a test file has sent: `{ file, milliseconds, sent: { [statement]: tests } }`, see
 * test-support/statements.
 * @typedef {{ file: string, milliseconds: number, sent: Record<string, string[]> }} Recorded
 */

/**
 * Finds statements sent to SQLite that were not sent to the other databases in the same words, nor
 * by a test that ran on each of them. Each comes with a test that sends it.
 * @param {readonly Recorded[]} sqlite
 * @param {readonly (readonly Recorded[])[]} others
 */
export function findUntried(sqlite, others) {
  const ran = others.map(testsOf)
  const heard = others.map(
    (recorded) => new Set(recorded.flatMap(({ sent }) => Object.keys(sent).map(withoutQuotes))),
  )
  const tried = new Set()
  const first = new Map()
  for (const { file, sent } of sqlite) {
    for (const [statement, tests] of Object.entries(sent)) {
      const names = tests.map((test) => nameOf(file, test))
      if (!first.has(statement)) first.set(statement, names[0])
      if (names.some((name) => ran.every((run) => run.has(name)))) tried.add(statement)
    }
  }
  return [...first]
    .filter(([statement]) => !tried.has(statement))
    .filter(([statement]) => !heard.every((words) => words.has(withoutQuotes(statement))))
    .map(([statement, test]) => ({ statement, test }))
}

/**
 * Finds files that could be dropped from another database, because the remaining files send all of
 * their statements there; the slowest first. A file may still be needed for its subject: races,
 * locks, several processes.
 * @param {readonly Recorded[]} other
 */
export function findSpare(other) {
  const count = new Map()
  for (const { sent } of other) {
    for (const statement of Object.keys(sent)) {
      count.set(statement, (count.get(statement) ?? 0) + 1)
    }
  }
  const slowestFirst = [...other].sort((a, b) => b.milliseconds - a.milliseconds)
  return slowestFirst.filter(({ sent }) => {
    const statements = Object.keys(sent)
    if (statements.some((statement) => count.get(statement) === 1)) return false
    for (const statement of statements) count.set(statement, count.get(statement) - 1)
    return true
  })
}

function testsOf(recorded) {
  return new Set(
    recorded.flatMap(({ file, sent }) =>
      Object.values(sent).flatMap((tests) => tests.map((test) => nameOf(file, test))),
    ),
  )
}

/**
 * Removes quotes around names, which differ between databases. Any other difference makes another
 * statement.
 */
const withoutQuotes = (statement) => statement.replaceAll(/["`]/g, '')

const nameOf = (file, test) => `${file} > ${test || 'before its tests'}`

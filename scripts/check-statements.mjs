// npm run check:statements -- folder: checks that every statement sent to SQLite is also tested on
// Postgres and MariaDB. The folder contains the results of runs of all tests with TEST_STATEMENTS
// (npm run test:all; .ci/run does both). With --spare it lists the test files that send no unique
// statement to Postgres, the slowest first.
import { findSpare, findUntried } from './statements/compare.mjs'
import { readRecords } from './statements/records.mjs'

const [folder = '', option] = process.argv.slice(2)

// Tests of the database package send their own statements to their own tables.
const sqlite = readRecords(folder, 'sqlite')?.filter(
  ({ file }) => !file.startsWith('packages/database/'),
)
const found = ['postgres', 'mariadb'].map((database) => ({
  database,
  recorded: readRecords(folder, database),
}))
const present = found.filter(({ recorded }) => recorded !== null)
const others = present.map(({ recorded }) => recorded)
if (!sqlite || others.length === 0) {
  console.error(
    `"${folder}" has no statements of SQLite and of another database; run TEST_STATEMENTS=${folder || 'folder'} npm run test:all first`,
  )
  process.exit(1)
}

if (option === '--spare') {
  for (const { file, milliseconds } of findSpare(others[0])) {
    console.log(`${String(Math.round(milliseconds / 1000)).padStart(4)} s  ${file}`)
  }
} else {
  const untried = findUntried(sqlite, others)
  for (const { statement, test } of untried) {
    console.error(`\n${statement}\n  is sent on SQLite alone, by ${test}`)
  }
  const count = new Set(sqlite.flatMap(({ sent }) => Object.keys(sent))).size
  console.log(
    untried.length === 0
      ? `${count} statements, each tried on sqlite, ${present.map(({ database }) => database).join(', ')}`
      : `\n${untried.length} of ${count} statements are tried on SQLite alone: take a test that sends them out of sqliteIsEnough in test-support/where-tests-run.ts`,
  )
  process.exitCode = untried.length === 0 ? 0 : 1
}

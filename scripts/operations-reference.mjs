// npm run docs:operations: writes the tables of docs/reference/admin.md from the operations, scopes
// and problems of the service. scripts/test/operations-reference.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ADMIN = join(ROOT, 'packages/server/dist/admin')
export const PAGE = join(ROOT, 'docs/reference/admin.md')

/** Returns the page with its tables up to date with the code. */
export function writeOperations(page, { operations, areas, scopes, getOperationArea, problems }) {
  const ofArea = ([area, holds]) => {
    const rows = operations
      .filter((operation) => getOperationArea(operation) === area)
      .map((operation) => [
        `\`${operation.route.join(' ')}\``,
        operation.summary,
        `\`${operation.name}\``,
        operation.role,
        conditionsOf(operation),
      ])
    if (rows.length === 0) return []
    const heading = `### ${holds[0].toUpperCase()}${holds.slice(1)}`
    return [
      heading,
      '',
      ...table(['Request', 'What it does', 'Operation', 'Lowest role', 'Also needs'], rows),
      '',
    ]
  }
  const written = {
    operations: Object.entries(areas).flatMap(ofArea).slice(0, -1),
    scopes: table(
      ['Scope', 'Lets a client'],
      Object.entries(scopes).map(([name, text]) => [`\`${name}\``, lowerFirst(text)]),
    ),
    problems: table(
      ['The `type` of the problem ends with', 'Status', 'Meaning'],
      Object.entries(problems).map(([name, { status, title }]) => [`\`#${name}\``, status, title]),
    ),
  }
  return Object.entries(written).reduce(replacePart, page)
}

function conditionsOf({ effect, grantsPower, needsKey, needsIfMatch }) {
  return [
    ...(effect === 'irreversible' ? ['a recent sign-in, or `admin:irreversible`'] : []),
    ...(grantsPower ? ['a recent sign-in; no client can call it'] : []),
    ...(needsKey ? ['`Idempotency-Key`'] : []),
    ...(needsIfMatch ? ['`If-Match`'] : []),
  ].join('; ')
}

const lowerFirst = (text) => `${text[0].toLowerCase()}${text.slice(1)}`

function table(columns, rows) {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}

/** Replaces the lines between `<!-- name -->` and `<!-- /name -->`. */
function replacePart(page, [name, lines]) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = page.indexOf(start) + start.length
  const to = page.indexOf(end)
  if (from < start.length || to < 0) throw new Error(`docs/reference/admin.md has no part ${name}`)
  return `${page.slice(0, from)}\n\n${lines.join('\n')}\n\n${page.slice(to)}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [{ OPERATIONS }, { OPERATION_AREAS, adminScopes, getOperationArea }, { PROBLEMS }] =
    await Promise.all(
      ['operations/all.js', 'operation.js', '../service-error.js'].map(
        (file) => import(join(ADMIN, file)),
      ),
    )
  const written = writeOperations(readFileSync(PAGE, 'utf8'), {
    operations: OPERATIONS,
    areas: OPERATION_AREAS,
    scopes: adminScopes(),
    getOperationArea,
    problems: PROBLEMS,
  })
  writeFileSync(PAGE, written)
}

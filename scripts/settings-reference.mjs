// npm run docs:settings: writes the tables of settings in docs/reference/service.md from
// packages/server/src/config/table.ts: names, defaults and doctor's checks from its rows, sentences
// from its comments. scripts/test/settings-reference.test.ts compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CONFIG = join(ROOT, 'packages/server/dist/config')
const TABLE = join(ROOT, 'packages/server/src/config/table.ts')
export const PAGE = join(ROOT, 'docs/reference/service.md')

/** Returns the page with both tables up to date with the code. */
export function writeSettings(page, { configTable, variableOf }) {
  const docs = readDocs()
  const rows = Object.entries(configTable).map(([name, row]) => ({ name, row, ...docs.get(name) }))
  const variables = rows
    .filter(({ row }) => !row.file)
    .map(({ name, row, ...doc }) => [
      code(name),
      doc.default ?? defaultOfVariable(row),
      tell(row, doc),
    ])
  const settings = rows
    .filter(({ row }) => row.file)
    .map(({ name, row, ...doc }) => [
      code(name),
      row.text ? code(variableOf(name)) : '',
      doc.default ?? describe(row.file.parse(undefined)),
      tell(row, doc),
    ])
  return replaceTable(
    replaceTable(page, 'Environment', ['Variable', 'Default', 'Meaning'], variables),
    'Configuration file',
    ['Setting', 'Variable', 'Default', 'Meaning'],
    settings,
  )
}

const code = (text) => `\`${text}\``

function tell({ check }, { sentence = '' }) {
  return check ? `${sentence} Checked by \`tollgate doctor\` (${check}).` : sentence
}

function defaultOfVariable({ fallback: { demo, production }, overrides }) {
  if (overrides) return code(overrides)
  if (demo === null) return ''
  if (demo === production) return describe(demo)
  return `${describe(demo)} in a demo, ${describe(production)} in production`
}

function describe(value) {
  if (value === null) return 'none'
  if (Array.isArray(value)) return value.map((each) => code(each.id ?? each)).join(', ') || 'none'
  if (typeof value !== 'object') return code(value)
  const isFlat = Object.values(value).every((each) => typeof each === 'string')
  return (isFlat ? Object.entries(value) : []).map((entry) => code(entry.join(': '))).join(', ')
}

/** Reads the comment above each row: its sentence on one line, and its `@default`. */
function readDocs() {
  const source = ts.createSourceFile(
    TABLE,
    readFileSync(TABLE, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const docs = new Map()
  const visit = (node) => {
    if (ts.isPropertyAssignment(node) && node.parent.parent.name?.text === 'configTable') {
      const [comment] = ts.getJSDocCommentsAndTags(node)
      const oneLine = (text) => ts.getTextOfJSDocComment(text)?.replace(/\s*\n\s*/g, ' ')
      const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'default')
      docs.set(node.name.text, {
        sentence: oneLine(comment?.comment),
        ...(tag && { default: oneLine(tag.comment) }),
      })
      return
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return docs
}

function replaceTable(page, heading, columns, rows) {
  const start = page.indexOf('\n|', page.indexOf(`\n## ${heading}\n`)) + 1
  const end = page.indexOf('\n\n', start) + 1
  const lines = [columns, columns.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
  return `${page.slice(0, start)}${lines.join('\n')}\n${page.slice(end)}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [{ configTable }, { variableOf }] = await Promise.all([
    import(join(CONFIG, 'table.js')),
    import(join(CONFIG, 'variables.js')),
  ])
  writeFileSync(PAGE, writeSettings(readFileSync(PAGE, 'utf8'), { configTable, variableOf }))
}

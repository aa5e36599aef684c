// npm run sample:texts -- --seed 7 --count 100: prints a random sample of the texts that people
// read here, each without context. Give it to readers who do not know the code, and rewrite what
// they misunderstand or have to read twice.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { testFunctionOf } from './check-words.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CATALOGUE = /messages\/en\.ts$|words\/en\.ts$/

/** Creates a generator of numbers from 0 to 1 that is the same for the same seed. */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function choose(list, count, random) {
  const rest = [...list]
  const chosen = []
  while (chosen.length < count && rest.length > 0) {
    chosen.push(...rest.splice(Math.floor(random() * rest.length), 1))
  }
  return chosen
}

const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)

function hoverOf(node) {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)
  return docs
    .at(-1)
    ?.getText()
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()
}

/** The declaration without its body and on one line, as an editor shows it above the documentation. */
function signatureOf(node) {
  const text = node.getText()
  const hasMembers =
    ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isVariableDeclaration(node)
  const end = node.body ? node.body.getStart() - node.getStart() : text.length
  const head = hasMembers ? text.split('\n')[0] : text.slice(0, end)
  const plain = head.replace(/^export /, '').replace(/\s*[{(=]?\s*$/, '')
  return plain.replace(/\s+/g, ' ').slice(0, 200)
}

const isExported = (node) =>
  ts.canHaveModifiers(node) &&
  ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/**
 * Finds exported names with their first line, and the hovers of these names and of their members.
 */
export function findNamesAndHovers(source) {
  const names = []
  const hovers = []
  const visit = (node, owner) => {
    const name = node.name?.getText()
    const hover = name && hoverOf(node)
    if (hover) hovers.push(`${owner ? `${owner}.` : ''}${signatureOf(node)}\n${hover}`)
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node))
      for (const member of node.members) if (member.name) visit(member, name)
  }
  for (const statement of source.statements.filter(isExported)) {
    const declared = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations
      : [statement]
    for (const declaration of declared) {
      names.push(signatureOf(declaration))
      visit(declaration, '')
    }
  }
  return { names, hovers }
}

/** Returns the text of a title, with its expressions as they are written. `null` if it is no text. */
function textOfTitle(title) {
  if (title === undefined) return null
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText().slice(1, -1) : null
}

/** Finds test titles as a log prints them: the subjects of `describe`, then the title. */
export function findTitles(source) {
  const titles = []
  const visit = (node, path) => {
    let inner = path
    if (ts.isCallExpression(node)) {
      const title = textOfTitle(node.arguments[0])
      const called = testFunctionOf(node)
      if (title !== null) {
        // Also `describeInChromium` and the like.
        if (called?.startsWith('describe')) inner = [...path, title]
        if (called === 'it' || called === 'test') titles.push([...path, title].join(' > '))
      }
    }
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  visit(source, [])
  return titles
}

function findMessages(source) {
  const messages = []
  const visit = (node) => {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteralLike(node.initializer))
      messages.push(node.initializer.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return messages
}

const cellsOf = (row) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Writes a row of a table as a reader sees it: each cell with the heading of its column. */
function describeRow(row, headings) {
  const cells = cellsOf(row).map((cell, at) => {
    const heading = headings[at] ?? ''
    return heading === '' || cell.startsWith(`${heading}: `) ? cell : `${heading}: ${cell}`
  })
  return `| ${cells.filter((cell) => !/^(?:.+: )?$/.test(cell)).join(' | ')} |`
}

/**
 * Finds paragraphs, list items and rows of tables, without code. Rows contain the headings of their
 * columns.
 */
export function findParagraphs(text) {
  const blocks = text
    .replace(/```[\s\S]*?```/g, '')
    .split(/\n\s*\n|\n(?=[-*|] ?)/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
  let headings = []
  const paragraphs = blocks.flatMap((block, at) => {
    if (!block.startsWith('|')) return [block]
    const next = blocks[at + 1] ?? ''
    if (next.includes('-') && /^[|\-: ]+$/.test(next)) {
      headings = cellsOf(block)
      return []
    }
    if (/^[|\-: ]+$/.test(block)) return []
    return [describeRow(block, headings)]
  })
  return paragraphs.filter((paragraph) => paragraph.length > 40)
}

export function collect(root = ROOT) {
  const files = execFileSync('git', ['ls-files', 'packages', 'docs', 'README.md'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\n')
  const kinds = { name: [], hover: [], 'test title': [], 'page text': [], paragraph: [] }
  for (const file of files) {
    if (!/\.(?:tsx?|md)$/.test(file) || file.endsWith('.d.ts')) continue
    const text = readFileSync(join(root, file), 'utf8')
    const add = (kind, texts) => kinds[kind].push(...texts.map((words) => ({ file, words })))
    if (file.endsWith('.md')) add('paragraph', findParagraphs(text))
    else if (/\.test\.ts$/.test(file)) add('test title', findTitles(parse(file, text)))
    else if (CATALOGUE.test(file)) add('page text', findMessages(parse(file, text)))
    else if (file.includes('/src/')) {
      const { names, hovers } = findNamesAndHovers(parse(file, text))
      add('name', names)
      add('hover', hovers)
    }
  }
  return kinds
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '100' },
      files: { type: 'boolean', default: false },
    },
  })
  const random = createRandom(Number(values.seed))
  const kinds = Object.entries(collect())
  let number = 0
  for (const [kind, texts] of kinds) {
    for (const { file, words } of choose(texts, Number(values.count) / kinds.length, random)) {
      number += 1
      console.log(`${number}. ${kind}${values.files ? ` (${file})` : ''}: ${words}\n`)
    }
  }
}

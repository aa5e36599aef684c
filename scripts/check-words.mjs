// npm run check:words: comments, test titles and guides without the turns of phrase that readers have to read twice.
// npm run check:words -- packages/oauth docs: only files below these folders.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Documentation must be understood on its own in a hover, so it begins with its subject or verb.
 */
const RIDDLE = /^(?:Of|By|As|Where|What|Whose|Who|The same|In place of|Or|Not|And|But|That)\b/
/**
 * A test title must be understood on its own in a log: `describe` names the subject, `it` continues
 * with a verb.
 */
const TITLE_WITHOUT_SUBJECT =
  /^(?:of|by|as|where|what|whose|who|the same|in place of|or|not|and|but|to|for|that|at|with|from)\b/i
const VAGUE = /\b(?:somebody|nobody|whoever|so much|such a|such an|the one that)\b/i

/** Phrases that are correct as they are, each with its reason. */
const EXCEPTIONS = [
  // Quotes a rule of the HTML standard.
  /"such a/,
]

const listFiles = (folders) =>
  execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...folders],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
    .split('\0')
    .filter((file) => file !== '')

function problemOf(text, opening) {
  const found = (opening && text.match(opening)) || text.match(VAGUE)
  return found && !EXCEPTIONS.some((allowed) => allowed.test(text)) ? found[0] : null
}

const wordsOfComment = (text) =>
  text
    .replace(/^\/\*+|\*+\/$/g, '')
    .replace(/^\/\//, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''))
    .join(' ')
    .replace(/`[^`]*`/g, 'x')
    .trim()

/** Members of test functions: `it.each`, `describe.skipIf`. */
const MODIFIERS = new Set(['concurrent', 'each', 'for', 'only', 'runIf', 'skip', 'skipIf'])

/** Returns the name of the function that a test is declared with: `it` for `it('…')` and `it.each(…)('…')`. */
export function testFunctionOf(call) {
  let callee = call.expression
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) {
    if (ts.isPropertyAccessExpression(callee) && !MODIFIERS.has(callee.name.text)) return null
    callee = callee.expression
  }
  return ts.isIdentifier(callee) ? callee.text : null
}

const isTest = (call) => ['it', 'test'].includes(testFunctionOf(call))

export function findInSource(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found = []
  const seen = new Set()
  const add = (position, problem, words) => {
    const { line } = source.getLineAndCharacterOfPosition(position)
    found.push({ line: line + 1, problem, words })
  }
  const readComments = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (seen.has(pos)) continue
      seen.add(pos)
      const comment = text.slice(pos, end)
      const words = wordsOfComment(comment)
      const problem = problemOf(words, comment.startsWith('/**') ? RIDDLE : null)
      if (problem) add(pos, problem, words)
    }
  }
  const visit = (node) => {
    readComments(node)
    if (ts.isCallExpression(node) && isTest(node)) {
      const [title] = node.arguments
      if (title && ts.isStringLiteralLike(title)) {
        const problem = problemOf(title.text, TITLE_WITHOUT_SUBJECT)
        if (problem) add(title.getStart(), problem, title.text)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  readComments(source.endOfFileToken)
  return found
}

export function findInGuide(text) {
  const prose = text.replace(/```[\s\S]*?```/g, (code) => code.replace(/[^\n]/g, ''))
  return prose.split('\n').flatMap((line, at) => {
    const words = line.replace(/`[^`]*`/g, 'x')
    const problem = problemOf(words, null)
    return problem ? [{ line: at + 1, problem, words: line.trim() }] : []
  })
}

function check(file) {
  const text = readFileSync(join(ROOT, file), 'utf8')
  if (file.endsWith('.md')) return findInGuide(text)
  return /\.(?:tsx?|mjs)$/.test(file) ? findInSource(file, text) : []
}

if (import.meta.filename === process.argv[1]) {
  let count = 0
  for (const file of listFiles(process.argv.slice(2))) {
    for (const { line, problem, words } of check(file)) {
      count += 1
      const short = words.length > 110 ? `${words.slice(0, 110)}…` : words
      console.log(`${file}:${line}  "${problem}": ${short}`)
    }
  }
  console.log(count === 0 ? 'Every text reads plainly' : `${count} texts to rewrite`)
  process.exitCode = count === 0 ? 0 : 1
}

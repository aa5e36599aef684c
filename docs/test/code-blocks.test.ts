import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeBlocks, listPages, prose, ROOT, readPage } from '../../test-support/markdown.ts'

/** A Hono application whose routes have a guard, for blocks about the gate. */
const GATED =
  "declare const app: import('hono').Hono; const { auth, scopes } = " +
  "(null as unknown as typeof import('@tollgate/oauth/hono')).forHono(oauth); " +
  "declare const listOrders: import('hono').Handler, exportOrders: import('hono').Handler; "

/** Declarations for blocks with this word after the language, such as `ts express` */
const CONTEXTS: Readonly<Record<string, string>> = {
  express: "declare const app: import('express').Express",
  fastify: "declare const app: import('fastify').FastifyInstance",
  hono: "declare const app: import('hono').Hono",
  guarded:
    "declare const app: import('express').Express; const { auth, scopes, user } = " +
    "(null as unknown as typeof import('@tollgate/oauth/express')).forExpress(oauth)",
  gated: GATED,
  admitted:
    `${GATED}const { admit } = (null as unknown as typeof import('@tollgate/gate/hono')).forHono(gate); ` +
    'declare function ask(c: unknown): Promise<{ readonly tokens: number }>',
  gates:
    "declare const createGate: typeof import('@tollgate/gate').createGate, " +
    "gateOptions: import('@tollgate/gate').GateOptions",
  tested:
    "declare const app: import('hono').Hono, headers: Record<string, string>, " +
    "clock: import('@tollgate/gate/testing').MovableClock",
  tools:
    "declare const server: import('@modelcontextprotocol/sdk/server/mcp.js').McpServer, userId: string, " +
    "inputSchema: { text: import('zod').ZodString }, listNotes: () => { content: [] }; " +
    'declare function ask(text: string): Promise<{ readonly tokens: number, readonly result: { content: [] } }>',
  sandbox:
    'declare const subscription: import("stripe").Stripe.Subscription, customer: { id: string }, ' +
    'body: string, signature: string',
}

/** A block may be the end of a handler. */
const RETURN_OUTSIDE_A_FUNCTION = 'TS1108'

const CONFIG = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { noEmit: true, declaration: false, declarationMap: false },
  include: ['*.ts', '../what-readers-have.d.ts'],
}

const PAGES = [
  ...listPages('docs/guides'),
  ...listPages('docs/reference'),
  'docs/debugging.md',
  ...listPages('packages').filter((page) => /^packages\/\w+\/README\.md$/.test(page)),
]

interface Source {
  readonly page: string
  readonly line: number
  readonly text: string
}

/**
 * Collects every `ts` block as a separate module. Names that the blocks leave out are declared in
 * `what-readers-have.d.ts`.
 */
function collectSources(): Map<string, Source> {
  const sources = new Map<string, Source>()
  for (const page of PAGES) {
    for (const { info, code, line } of codeBlocks(readPage(page))) {
      const [language, context = ''] = info.split(' ')
      if (language !== 'ts') continue
      const text = `${CONTEXTS[context] ?? ''}; export {}\n${code}`
      sources.set(`${page.replaceAll(/\W/g, '-')}-${line}.ts`, { page, line, text })
    }
  }
  return sources
}

/**
 * Matches code such as `oauth.tokens.revoke(id)` in a sentence or a table. The names in it must
 * exist, too.
 */
const NAMED = /^(?:await |[^$`]*[ (])?((?:oauth|billing|user|subscription)(?:\.\w+)+)/

/** Creates one module for each page, with one line for each line of the page. */
function collectNames(): Map<string, Source> {
  const sources = new Map<string, Source>()
  for (const page of listPages('docs/guides')) {
    const lines = prose(readPage(page))
      .split('\n')
      .map((line) =>
        [...line.matchAll(/`([^`]+)`/g)]
          .flatMap(([, code = '']) => NAMED.exec(code)?.[1] ?? [])
          .map((name) => `void ${name.replace(/^user\b/, 'someone')};`)
          .join(' '),
      )
    const text = `export {}\n${lines.join('\n')}`
    sources.set(`${page.replaceAll(/\W/g, '-')}-names.ts`, { page, line: 1, text })
  }
  return sources
}

/**
 * Compiles modules in a place where they can import our packages. Returns the compiler's errors by
 * page and line.
 */
function check(sources: ReadonlyMap<string, Source>): string[] {
  const folder = mkdtempSync(`${ROOT}docs/test/blocks-`)
  try {
    for (const [name, { text }] of sources) writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    const args = [`${ROOT}scripts/tsc.mjs`, '-p', folder, '--pretty', 'false']
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    return `${stderr}${stdout}`
      .split(/\n(?! )/)
      .filter((problem) => problem && !problem.includes(`error ${RETURN_OUTSIDE_A_FUNCTION}:`))
      .map((problem) => describeProblem(problem, sources))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const PROBLEM = /^(\S+)\((\d+),\d+\): error TS\d+: (.*)/s

function describeProblem(problem: string, sources: ReadonlyMap<string, Source>): string {
  const [, file = '', line = 0, text] = PROBLEM.exec(problem) ?? []
  const source = sources.get(file)
  return source ? `${source.page}:${source.line + Number(line) - 2}: ${text}` : problem
}

/** Uses names and arguments that do not exist, to prove that the check reports them. */
const WRONG: Source = {
  page: 'wrong.md',
  line: 1,
  text: '\nawait oauth.tokens.findAll()\nawait billing.user()\nnowhere()',
}

describe('the TypeScript in the documentation', () => {
  it('compiles against the built packages', { timeout: 240_000 }, () => {
    const sources = new Map([...collectSources(), ...collectNames(), ['wrong.ts', WRONG]])
    const problems = check(sources)
    const isExpected = (problem: string) => problem.startsWith('wrong.md:')
    expect(problems.filter((problem) => !isExpected(problem))).toEqual([])
    expect(problems.filter(isExpected)).toEqual([
      expect.stringMatching(/^wrong.md:1: Property 'findAll' does not exist/),
      expect.stringMatching(/^wrong.md:2: Expected 1 arguments/),
      expect.stringMatching(/^wrong.md:3: Cannot find name 'nowhere'/),
    ])
  })
})

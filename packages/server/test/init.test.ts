import {
  chmodSync,
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { connect } from '@tollgate/database'
import { clientCredentials, createAuthorizationServer } from '@tollgate/oauth'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { runCli } from '../src/program.ts'

const STARTERS = fileURLToPath(new URL('../../../scripts/starters/', import.meta.url))

/** Copies a starter, or makes an empty folder. `files` are added to it. */
function createFolder(starter: string | null, files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (starter !== null) cpSync(join(STARTERS, starter), folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** Returns the text of every file, without the database. */
function readFiles(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    paths
      .filter((path) => !/^(?:tollgate\.db|node_modules)/.test(path))
      .map((path) => {
        const file = join(folder, path)
        return [path, statSync(file).isFile() ? readFileSync(file, 'utf8') : '(folder)']
      }),
  )
}

/** Runs `tollgate init` in a folder. `answers` are typed one after the other at a terminal. */
async function init(folder: string, args: readonly string[], answers?: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: answers !== undefined })
  const waiting = [...(answers ?? [])]
  const before = process.cwd()
  process.chdir(folder)
  try {
    const code = await runCli(
      ['init', ...args],
      {},
      {
        stdout: { write: (text) => void out.push(text) },
        stderr: {
          write(text) {
            err.push(text)
            if (answers) setImmediate(() => stdin.write(`${waiting.shift() ?? ''}\n`))
          },
        },
        stdin: stdin as unknown as NodeJS.ReadStream,
      },
    )
    return { code, stdout: out.join(''), stderr: err.join('') }
  } finally {
    process.chdir(before)
  }
}

const YES = ['--yes', '--no-install']
const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8')

describe('tollgate init', () => {
  it.each([
    ['express', ['src/tollgate.ts', '.gitignore', '.env'], ['src/index.ts']],
    ['fastify', ['src/tollgate.ts', '.gitignore', '.env'], ['src/app.ts']],
    ['hono', ['src/tollgate.ts', '.gitignore', '.env'], ['src/index.ts']],
    [
      'next',
      [
        'lib/tollgate.ts',
        'app/oauth/[...path]/route.ts',
        'app/.well-known/[...path]/route.ts',
        'app/api/whoami/route.ts',
        '.gitignore',
        '.env',
      ],
      ['next.config.ts'],
    ],
  ])(
    'sets up a new application of %s, and changes nothing when it runs again',
    async (starter, created, changed) => {
      const folder = createFolder(starter)
      const first = await init(folder, [...YES, '--json'])
      expect([first.code, first.stderr]).toEqual([0, ''])
      const result = JSON.parse(first.stdout)
      expect(result).toMatchObject({
        created,
        changed,
        installed: [],
        by_hand: null,
        client: { id: expect.any(String), secret: expect.any(String) },
      })
      expect(result.missing).toContain('libsql')
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)

      const before = readFiles(folder)
      const second = await init(folder, ['--no-install'])
      expect([second.code, second.stderr]).toEqual([0, ''])
      expect(second.stdout).toContain('Nothing was changed: this application is set up already.')
      expect(readFiles(folder)).toEqual(before)
    },
  )

  it('creates a client that gets a token by client credentials with the settings in .env', async () => {
    const folder = createFolder('hono')
    const { client } = JSON.parse((await init(folder, [...YES, '--json'])).stdout)
    const database = await connect(`sqlite:${join(folder, 'tollgate.db')}`)
    const [, secret] = /TOLLGATE_SECRET=(.+)/.exec(read(folder, '.env')) ?? []
    const users = { findById: () => null }
    const issuer = 'http://localhost:3000'
    const grants = [clientCredentials()]
    const oauth = createAuthorizationServer({ issuer, secret, database, users, grants })
    onTestFinished(async () => {
      await oauth.close()
      await database.close()
    })
    const response = await oauth.fetch(
      new Request(`${issuer}/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      }),
    )
    expect(await response.json()).toMatchObject({ access_token: expect.any(String) })
  })

  it('keeps existing settings and ignore patterns', async () => {
    const env = 'PORT=4123\nTOLLGATE_SECRET=a-secret-of-32-characters-or-more\n'
    const folder = createFolder('express', { '.env': env, '.gitignore': '.env*\n' })
    expect((await init(folder, YES)).code).toBe(0)
    expect(read(folder, '.env')).toBe(
      `${env}\n# Tollgate\nDATABASE_URL=sqlite:tollgate.db\nTOLLGATE_URL=http://localhost:4123\n`,
    )
    expect(read(folder, '.gitignore')).toBe('.env*\n\ntollgate.db*\n')
  })

  it('replaces an existing .env at once, readable by its owner only, and keeps a link to it', async () => {
    const folder = createFolder('express', { 'shared/.env': 'OWN=1\n' })
    chmodSync(join(folder, 'shared/.env'), 0o644)
    symlinkSync('shared/.env', join(folder, '.env'))
    const opened = openSync(join(folder, '.env'), 'r')
    onTestFinished(() => closeSync(opened))
    const { code } = await init(folder, [...YES, '--database', 'sqlite:my #1.db'])
    expect(code).toBe(0)
    // A program that had opened the readable file sees no secret.
    expect(readFileSync(opened, 'utf8')).toBe('OWN=1\n')
    expect(lstatSync(join(folder, '.env')).isSymbolicLink()).toBe(true)
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    const settings = parseEnv(read(folder, 'shared/.env'))
    expect(settings).toMatchObject({ OWN: '1', DATABASE_URL: 'sqlite:my #1.db' })
    expect(readdirSync(folder)).toContain('my #1.db')
    expect(readdirSync(join(folder, 'shared'))).toEqual(['.env'])
  })

  it('uses the settings in .env.local in a Next application', async () => {
    const local = 'DATABASE_URL=sqlite:other.db\n'
    const folder = createFolder('next', { '.env.local': local })
    expect((await init(folder, YES)).code).toBe(0)
    expect(read(folder, '.env')).not.toContain('DATABASE_URL')
    expect(readdirSync(folder)).toContain('other.db')
  })

  it('writes the files that are missing in a fresh clone of an application that was set up before', async () => {
    const folder = createFolder('express')
    await init(folder, YES)
    const server = `${read(folder, 'src/tollgate.ts')}// changed by hand\n`
    const clone = createFolder('express', {
      'src/index.ts': read(folder, 'src/index.ts'),
      'src/tollgate.ts': server,
      '.gitignore': read(folder, '.gitignore'),
    })
    const { created, changed, client } = JSON.parse((await init(clone, [...YES, '--json'])).stdout)
    expect([created, changed]).toEqual([['.env'], []])
    expect(client.secret).toEqual(expect.any(String))
    expect(read(clone, 'src/tollgate.ts')).toBe(server)
  })

  it('prints the two lines to add if it cannot find where the application is created', async () => {
    const source = "import express from 'express'\nconst a = express()\nconst b = express()\n"
    const folder = createFolder('express', { 'src/index.ts': source })
    const { code, stdout } = await init(folder, YES)
    expect(code).toBe(0)
    expect(stdout).toContain("  import { tollgate } from './tollgate.js'\n  app.use(tollgate)\n")
    expect(read(folder, 'src/index.ts')).toBe(source)
    expect(read(folder, 'src/tollgate.ts')).toContain('createAuthorizationServer')
  })

  it('asks three questions, and Enter accepts the default', async () => {
    const folder = createFolder('hono')
    const { code, stderr } = await init(folder, ['--no-install'], ['', 'stripe', 'people'])
    expect([code, stderr.match(/\?/g)?.length]).toEqual([0, 3])
    expect(read(folder, 'src/tollgate.ts')).toContain("users: { table: 'people' }")
    expect(read(folder, '.env')).toMatch(/^DATABASE_URL=sqlite:tollgate\.db\n.*^STRIPE_SECRET=/ms)
  })
})

describe('tollgate init fails and changes nothing', () => {
  const unreachable = async () => `postgres://localhost:${await findFreePort()}/app`
  const manifest = (value: object) => ({ 'package.json': JSON.stringify(value) })
  const cases: readonly [
    when: string,
    setup: {
      starter?: string
      files?: Readonly<Record<string, string>>
      args?: readonly string[]
      answers?: readonly string[]
    },
    message: string,
  ][] = [
    ['there is no package.json', {}, 'There is no package.json in'],
    [
      'the framework is unknown',
      { files: manifest({ dependencies: { koa: '3' } }) },
      'does not list Express, Fastify, Hono or Next',
    ],
    [
      'Hono does not run on Node',
      { files: manifest({ type: 'module', dependencies: { hono: '^4.0.0' } }) },
      'npm install @hono/node-server',
    ],
    [
      'Hono is loaded as CommonJS',
      { files: manifest({ dependencies: { hono: '^4.0.0', '@hono/node-server': '^2.0.0' } }) },
      'Add "type": "module" to package.json',
    ],
    [
      'another file has the name of the generated file',
      { starter: 'express', files: { 'src/tollgate.ts': 'export const tollgate = 1\n' } },
      'src/tollgate.ts already exists and does not create a Tollgate server',
    ],
    [
      'a route of Next is in the way',
      { starter: 'next', files: { 'app/oauth/[...path]/route.ts': 'export const GET = 1\n' } },
      'app/oauth/[...path]/route.ts already exists',
    ],
    ['.env is a folder', { starter: 'express', files: { '.env/file': '' } }, '.env cannot be read'],
    [
      '.env has a database that Tollgate does not support',
      { starter: 'express', files: { '.env': 'DATABASE_URL=mongodb://me:hidden@localhost/app\n' } },
      'unknown scheme mongodb:',
    ],
    [
      '.env has another kind of database than the chosen one',
      {
        starter: 'express',
        files: { '.env': 'DATABASE_URL=postgres://localhost/app\n' },
        args: [...YES, '--database', 'sqlite'],
      },
      '.env already has a DATABASE_URL, of postgres and not sqlite',
    ],
    [
      'the secret in .env is too short',
      { starter: 'express', files: { '.env': 'TOLLGATE_SECRET=short\n' } },
      '32',
    ],
    [
      'billing does not know the table of users',
      { starter: 'express', args: [...YES, '--billing', 'stripe'] },
      'add --users <table>',
    ],
    [
      'the table of users is not a name',
      { starter: 'express', args: [...YES, '--users', "x'; drop table y"] },
      'must be a name such as users',
    ],
    [
      'the folder of tarballs is empty',
      { starter: 'express', args: ['--yes', '--tarballs', '.'] },
      'contains no tollgate-oauth-<version>.tgz',
    ],
    [
      'the package manager fails',
      {
        starter: 'express',
        files: {
          'packed/tollgate-oauth-0.1.0.tgz': 'broken',
          'packed/tollgate-database-0.1.0.tgz': 'broken',
          'packed/tollgate-http-0.1.0.tgz': 'broken',
        },
        args: ['--yes', '--tarballs', 'packed'],
      },
      'failed (exit code 1), so nothing was changed',
    ],
    [
      'there is no terminal to ask on',
      { starter: 'express', args: ['--no-install'] },
      'Add --yes to use the defaults',
    ],
    [
      'an answer is not one of the choices',
      { starter: 'express', args: ['--no-install'], answers: ['', 'paypal'] },
      'must be one of none, stripe, braintree, not "paypal"',
    ],
  ]
  it.each(cases)(
    'if %s',
    async (_when, { starter = null, files, args = YES, answers }, message) => {
      const folder = createFolder(starter, files)
      const before = readFiles(folder)
      const { code, stderr } = await init(folder, args, answers)
      expect(stderr).toContain(message)
      expect(stderr).not.toContain('hidden')
      expect(code).not.toBe(0)
      expect(readFiles(folder)).toEqual(before)
      expect(readdirSync(folder).filter((name) => name.startsWith('tollgate.db'))).toEqual([])
    },
  )

  it('if the database server does not answer', async () => {
    const folder = createFolder('express')
    const before = readFiles(folder)
    const { code, stderr } = await init(folder, [...YES, '--database', await unreachable()])
    expect([code, stderr]).toEqual([1, expect.stringContaining('Cannot open the database')])
    expect(readFiles(folder)).toEqual(before)
  })
})

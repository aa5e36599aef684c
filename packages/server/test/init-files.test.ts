import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { BILLING_NAMES, DEFAULT_CHOICES, type InitChoices } from '../src/cli/init/choices.ts'
import { FRAMEWORKS, findFramework } from '../src/cli/init/frameworks/all.ts'
import { readProject } from '../src/cli/init/project.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
// In this repository, where the generated files can import the packages.
const folder = mkdtempSync(fileURLToPath(new URL('init-files-', import.meta.url)))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Files that make an application, with ES modules and with CommonJS. */
const ENTRIES: Readonly<Record<string, { readonly esm: string; readonly commonjs?: string }>> = {
  express: {
    esm: `import express from 'express'\nconst app = express()\napp.listen(Number(process.env.PORT))\n`,
    commonjs: `const express = require('express')\nconst app = express()\napp.listen(Number(process.env.PORT))\n`,
  },
  fastify: {
    esm: `import Fastify from 'fastify'\nconst app = Fastify()\napp.listen({ port: Number(process.env.PORT) })\n`,
    commonjs: `const app = require('fastify')()\napp.listen({ port: Number(process.env.PORT) })\n`,
  },
  hono: {
    esm: `import { serve } from '@hono/node-server'\nimport { Hono } from 'hono'\nconst app = new Hono()\nserve({ fetch: app.fetch, port: Number(process.env.PORT) })\n`,
  },
  next: { esm: '' },
}

interface Variant {
  readonly framework: string
  readonly modules: 'esm' | 'commonjs'
  readonly typescript: boolean
  readonly choices: InitChoices
}

/** Writes an application and the files that `tollgate init` plans for it. Returns its folder. */
function writeApplication({ framework, modules, typescript, choices }: Variant): string {
  const extension = typescript ? 'ts' : 'js'
  const cwd = join(folder, `${framework}-${modules}-${extension}-${choices.billing}`)
  const versions = { [framework]: `^${FRAMEWORKS[framework]?.major}.0.0`, '@hono/node-server': '2' }
  // A package of Next has no type, and its files import without extensions.
  const type = modules === 'esm' && framework !== 'next' ? { type: 'module' } : {}
  const entry = ENTRIES[framework]?.[modules] ?? ''
  // TypeScript has `import` in CommonJS, too.
  const source = typescript ? (ENTRIES[framework]?.esm ?? '') : entry
  const files = {
    'package.json': JSON.stringify({
      ...type,
      dependencies: versions,
      ...(typescript && { devDependencies: { typescript: '5.9' } }),
    }),
    ...(source !== '' && { [`app.${extension}`]: source }),
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const project = readProject(cwd)
  const { changes, byHand } = findFramework(project, framework).plan(project, choices)
  expect(byHand).toBeNull()
  for (const { path, after } of changes) write(path, after)
  return cwd
}

const everyModules = (framework: string) =>
  ENTRIES[framework]?.commonjs === undefined ? (['esm'] as const) : (['esm', 'commonjs'] as const)

describe('the files written by tollgate init', () => {
  it('compile with strict TypeScript, with ES modules and CommonJS, for each provider', () => {
    for (const framework of Object.keys(FRAMEWORKS)) {
      for (const modules of everyModules(framework)) {
        for (const billing of BILLING_NAMES) {
          const users = billing === 'none' ? null : 'users'
          const choices = { ...DEFAULT_CHOICES, billing, users }
          writeApplication({ framework, modules, typescript: true, choices })
        }
      }
    }
    const config = {
      compilerOptions: {
        target: 'ES2022',
        module: 'NodeNext',
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        noImplicitReturns: true,
        noImplicitOverride: true,
        noUnusedLocals: true,
        noUnusedParameters: true,
        declaration: true,
        noEmit: true,
        skipLibCheck: true,
        types: ['node'],
      },
      include: ['**/*.ts'],
      exclude: ['**/next.config.*'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const args = [`${ROOT}scripts/tsc.mjs`, '-p', folder, '--pretty', 'false']
    const { stdout, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    expect([status, stdout]).toEqual([0, ''])
  })

  const javascript = Object.keys(FRAMEWORKS)
    .filter((framework) => framework !== 'next')
    .flatMap((framework) => everyModules(framework).map((modules) => ({ framework, modules })))
  it.each(javascript)(
    'run as JavaScript: $framework with $modules',
    async ({ framework, modules }) => {
      const choices = DEFAULT_CHOICES
      const cwd = writeApplication({ framework, modules, typescript: false, choices })
      const port = await findFreePort()
      const child = spawn(process.execPath, ['app.js'], {
        cwd,
        env: {
          ...process.env,
          PORT: String(port),
          DATABASE_URL: 'sqlite::memory:',
          TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const ended = new Promise((resolve) => child.once('close', resolve))
      onTestFinished(async () => {
        child.kill()
        await ended
      })
      const errors: string[] = []
      child.stderr.on('data', (chunk) => errors.push(String(chunk)))
      const get = async (path: string) => {
        const response = await fetch(`http://localhost:${port}${path}`)
        return `${response.status} ${await response.text()}`
      }
      await expect
        .poll(() =>
          child.exitCode === null ? get('/api/whoami').catch(() => '') : errors.join(''),
        )
        .toMatch(/^401 /)
      expect(await get('/oauth/tokens')).toMatch(/^500 .*fill in signedIn\(\) in tollgate\.js/)
    },
  )
})

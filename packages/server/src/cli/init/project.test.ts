import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FRAMEWORKS, findFramework } from './frameworks/all.ts'
import { detectLanguage } from './language.ts'
import { findPackageManager, findPort, listEntries, readProject } from './project.ts'

/** Writes a project with these files. Returns its folder. */
function createProject(packageJson: object, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const all = { '.git/HEAD': '', 'package.json': JSON.stringify(packageJson), ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
const projectOf = (...given: Parameters<typeof createProject>) =>
  readProject(createProject(...given))

describe('findFramework', () => {
  it.each(Object.entries(FRAMEWORKS))('finds %s in package.json', (name, framework) => {
    const project = projectOf({ dependencies: { [name]: `^${framework.major}.0.0` } })
    expect(findFramework(project, null)).toBe(framework)
  })

  it.each([
    ['no framework', {}, null, 'does not list Express, Fastify, Hono or Next'],
    ['two frameworks', { express: '5', hono: '4' }, null, 'several frameworks: express, hono'],
    ['another framework than the chosen one', { hono: '4' }, 'express', 'does not list express'],
    ['Express 4', { express: '~4.21.0' }, null, 'Express ~4.21.0, and Tollgate needs Express 5'],
    ['Fastify 4', { fastify: '^4.0.0' }, null, 'Tollgate needs Fastify 5'],
    ['Next 14', { next: '14.2.3' }, null, 'Tollgate needs Next 15'],
  ])('rejects a project with %s', (_name, dependencies, chosen, message) => {
    expect(() => findFramework(projectOf({ dependencies }), chosen)).toThrow(message)
  })

  it('finds the framework that the user has chosen if there are two', () => {
    const project = projectOf({ dependencies: { express: '^5.0.0', next: '^16.0.0' } })
    expect(findFramework(project, 'next')).toBe(FRAMEWORKS.next)
  })

  it('reads the installed version if package.json contains only a tag', () => {
    const installed = { 'node_modules/express/package.json': '{ "version": "4.21.0" }' }
    const project = projectOf({ dependencies: { express: 'latest' } }, installed)
    expect(() => findFramework(project, null)).toThrow('Express 4.21.0')
  })
})

describe('detectLanguage(), which finds out how a file of an application is compiled,', () => {
  it.each([
    ['app.ts', 'module', { typescript: true, modules: 'esm' }],
    ['app.ts', undefined, { typescript: true, modules: 'commonjs' }],
    ['app.mts', 'commonjs', { typescript: true, modules: 'esm' }],
    ['app.js', 'commonjs', { typescript: false, modules: 'commonjs' }],
    ['app.mjs', undefined, { typescript: false, modules: 'esm' }],
    ['app.cjs', 'module', { typescript: false, modules: 'commonjs' }],
  ])(
    'returns the right language and module format for %s in a package of type %s',
    (file, type, language) => {
      expect(detectLanguage(file, type)).toEqual(language)
    },
  )
})

describe('findPackageManager()', () => {
  it.each([
    ['the field packageManager', { packageManager: 'pnpm@10.2.0' }, 'yarn.lock', '', 'pnpm'],
    ['pnpm-lock.yaml', {}, 'pnpm-lock.yaml', '', 'pnpm'],
    ['yarn.lock', {}, 'yarn.lock', 'npm/11.0.0 node/v22', 'yarn'],
    ['bun.lock', {}, 'bun.lock', '', 'bun'],
    ['package-lock.json', {}, 'package-lock.json', 'pnpm/10.2.0 node/v22', 'npm'],
    ['the running program', {}, 'README.md', 'pnpm/10.2.0 npm/? node/v22', 'pnpm'],
    ['nothing', {}, 'README.md', '', 'npm'],
  ])('decides by %s', (_name, packageJson, file, userAgent, expected) => {
    const project = projectOf(packageJson, { [file]: '' })
    expect(findPackageManager(project, userAgent).name).toBe(expected)
  })

  it('finds the lock file of a workspace above the folder', () => {
    const folder = createProject({}, { 'pnpm-lock.yaml': '', 'apps/api/package.json': '{}' })
    expect(findPackageManager(readProject(join(folder, 'apps/api'))).name).toBe('pnpm')
  })
})

describe('findPort(), which reads the port of an application from its source,', () => {
  it.each([
    ['const port = process.env.PORT ?? 4000', {}, 4000],
    ['const port = Number(process.env.PORT || "4001")', {}, 4001],
    ['app.listen(8080, () => {})', {}, 8080],
    ['await app.listen({ port: 8081 })', {}, 8081],
    ['serve({ fetch: app.fetch, port: 8082 })', {}, 8082],
    ['next dev -p 8083', {}, 8083],
    ['next dev --port=8084', {}, 8084],
    ['app.listen(8080)', { PORT: '9000' }, 9000],
    ['app.listen(port)', {}, 3000],
  ])('finds the port in %s with the settings %o', (source, settings, port) => {
    expect(findPort(source, settings)).toBe(port)
  })
})

describe('listEntries(), which lists the files that may start an application,', () => {
  it('lists files that package.json names first, then files with usual names, and no compiled files', () => {
    const project = projectOf(
      { main: 'dist/index.js', scripts: { dev: 'tsx watch ./source/api.ts' } },
      { 'dist/index.js': '', 'source/api.ts': '', 'src/server.ts': '', 'src/other.ts': '' },
    )
    expect(listEntries(project)).toEqual(['source/api.ts', 'src/server.ts'])
  })
})

describe('readProject()', () => {
  it('rejects a folder without package.json, and a package.json that is not valid JSON', () => {
    const folder = createProject({}, { 'broken/package.json': '{', 'list/package.json': '[]' })
    expect(() => readProject(join(folder, '.git'))).toThrow('There is no package.json in')
    expect(() => readProject(join(folder, 'broken'))).toThrow('cannot be read')
    expect(() => readProject(join(folder, 'list'))).toThrow('must contain a JSON object')
  })
})

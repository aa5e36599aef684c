import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { codeBlocks, ROOT, readPage } from '../../../test-support/markdown.ts'
import { startProgram, untilServing } from './built-program.ts'

// In this folder the file finds the SDK.
const folder = mkdtempSync(`${ROOT}packages/server/test/otel-`)
const exported = join(folder, 'exported.jsonl')
let test: TestDatabase

/** A package in place of an exporter, which writes to a file what it should send. */
function installExporter(name: string, className: string, read: string): void {
  const home = join(folder, 'node_modules/@opentelemetry', name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"type":"module","exports":"./index.js"}')
  writeFileSync(
    join(home, 'index.js'),
    `import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const read = ${read}
export class ${className} {
  async export(batch, done) {
    await sleep(50)
    const lines = read(batch).map((line) => JSON.stringify({ pid: process.pid, ...line }) + '\\n')
    appendFileSync(${JSON.stringify(exported)}, lines.join(''))
    done({ code: 0 })
  }
  async forceFlush() {}
  async shutdown() {}
}
`,
  )
}

interface Exported {
  readonly pid: number
  readonly span?: string
  readonly metric?: string
  readonly instance: string
}

beforeAll(async () => {
  test = await createTestDatabase()
  const [example = ''] = codeBlocks(readPage('docs/guides/opentelemetry.md'))
    .filter(({ info }) => info === 'js')
    .map(({ code }) => code)
  writeFileSync(join(folder, 'otel.mjs'), example)
  installExporter(
    'exporter-trace-otlp-http',
    'OTLPTraceExporter',
    `(spans) => spans.map(({ name, resource }) =>
      ({ span: name, instance: resource.attributes['service.instance.id'] }))`,
  )
  installExporter(
    'exporter-metrics-otlp-http',
    'OTLPMetricExporter',
    `({ resource, scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics).map((metric) =>
      ({ metric: metric.descriptor.name, instance: resource.attributes['service.instance.id'] }))`,
  )
})
afterAll(async () => {
  await test.drop()
  rmSync(folder, { recursive: true, force: true })
})

it.each([
  ['without workers', {}, 1],
  ['with two workers', { TOLLGATE_WORKERS: '2' }, 2],
])(
  'the file of the guide exports the spans and metrics of each process %s, up to its end',
  async (_, more, processes) => {
    rmSync(exported, { force: true })
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}`
    const program = startProgram(['serve'], {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: test.url,
      TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      TOLLGATE_URL: 'http://localhost:1',
      TOLLGATE_DRAIN_SECONDS: '0',
      STRIPE_SECRET: 'sk_test_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      STRIPE_API_URL: 'http://127.0.0.1:1',
      NODE_OPTIONS: `--import ${pathToFileURL(join(folder, 'otel.mjs'))}`,
      ...more,
    })
    try {
      await untilServing(program, url)
      const ready = () => program.output().split('"msg":"ready"').length - 1
      await expect.poll(ready).toBe(processes === 1 ? 1 : 3)
      // New connections, which any process may accept.
      const headers = { connection: 'close' }
      for (let turn = 0; turn < 20; turn++) await fetch(`${url}/api/user`, { headers })
      program.child.kill('SIGTERM')
      expect(await program.ended, program.output()).toBe(0)
    } finally {
      program.child.kill('SIGKILL')
    }
    expect(existsSync(exported), program.output()).toBe(true)
    const lines = readFileSync(exported, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Exported)
    expect(lines.filter(({ span }) => span === 'GET /api/user')).toHaveLength(20)
    const measured = lines.filter(({ metric }) => metric === 'tollgate_open_connections')
    expect(new Set(measured.map(({ instance }) => instance)).size).toBe(processes)
    expect(new Set(measured.map(({ pid }) => pid)).size).toBe(processes)
  },
)

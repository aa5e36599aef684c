import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPage } from '../../../test-support/markdown.ts'
import { createWorkerMetrics } from '../src/workers/metrics.ts'
import { startTestService, type TestService } from './support.ts'

const read = (path: string) =>
  readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8')

/** Labels that Prometheus itself adds. */
const ADDED = ['job', 'instance']

const rules = read('prometheus/alerts.yaml')
  .split(/^ +- alert: /m)
  .slice(1)
  .map((text) => {
    const [, expr = ''] = /expr: ([\s\S]*?)\n +(?:for|labels):/.exec(text) ?? []
    const [, link = ''] = /runbook_url: (\S+)/.exec(text) ?? []
    return { name: text.split('\n')[0] ?? '', text, expr, link }
  })

interface Panel {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  readonly targets: readonly { readonly expr: string }[]
}
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(read('grafana/tollgate.json'))

const queries = [
  ...rules.map(({ name, expr }) => ({ name, expr })),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ name: `the panel "${title}"`, expr })),
  ),
]

/** The metrics in a query, each with the labels of its selector, such as `queue="usage"`. */
function metricsIn(expr: string) {
  return [...expr.matchAll(/\b((?:tollgate|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
    }),
  )
}
/** The labels in each `by (…)` of a query. */
const groupsIn = (expr: string) =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/[\s,]+/))

describe('the alerts and the dashboard in deploy/', () => {
  let service: TestService
  /** The labels of each metric that the service prints, also those of workers. */
  const printed = new Map<string, readonly string[]>()
  let text = ''

  beforeAll(async () => {
    service = await startTestService()
    text = await (await fetch(`${service.url}/metrics`)).text()
    const ofWorkers = await createWorkerMetrics(() => 1).read(new Map())
    for (const [, name = '', type] of `${text}${ofWorkers}`.matchAll(/^# TYPE (\w+) (\w+)/gm)) {
      const metric = service.metrics.registry.getSingleMetric(name)
      const labels = (metric as unknown as { labelNames?: string[] } | undefined)?.labelNames ?? []
      printed.set(name, labels)
      if (type !== 'histogram') continue
      for (const part of ['count', 'sum']) printed.set(`${name}_${part}`, labels)
      printed.set(`${name}_bucket`, [...labels, 'le'])
    }
  })
  afterAll(() => service.stop())

  it.each(queries)('use only metrics and labels that /metrics prints: $name', ({ expr }) => {
    const used = metricsIn(expr)
    const known = used.flatMap(({ name }) => printed.get(name) ?? [])
    for (const { name, labels } of used) {
      expect([...printed.keys()]).toContain(name)
      expect([...ADDED, ...(printed.get(name) ?? [])]).toEqual(expect.arrayContaining(labels))
    }
    for (const label of groupsIn(expr)) expect([...ADDED, ...known]).toContain(label)
  })

  it('use only queues that /metrics prints', () => {
    const used = queries.flatMap(({ expr }) =>
      [...expr.matchAll(/queue=~?"([^"]+)"/g)].flatMap(([, names = '']) => names.split('|')),
    )
    expect(used).toContain('deliveries')
    for (const queue of used) expect(text).toContain(`queue="${queue}"`)
  })
})

describe('an alert in deploy/prometheus', () => {
  const tests = read('prometheus/alerts.test.yaml')
  const guide = readPage('docs/guides/alerts.md')

  it('has a unique name', () => {
    expect(rules.length).toBeGreaterThan(10)
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length)
  })

  it.each(rules)(
    '$name has a severity, a summary, a description and a section of the guide',
    ({ name, text, link }) => {
      for (const part of ['severity: ', 'summary: ', 'description: ']) expect(text).toContain(part)
      expect(link).toMatch(new RegExp(`/docs/guides/alerts\\.md#${name.toLowerCase()}$`))
      expect(guide).toContain(`\n### ${name}\n`)
    },
  )

  it.each(rules)(
    '$name has a unit test in which it fires, and one in which it does not',
    ({ name }) => {
      expect(tests).toContain(`- name: ${name} fires for `)
      expect(tests).toContain(`- name: ${name} does not fire for `)
    },
  )

  it('exists for every section of the guide', () => {
    const sections = [...guide.matchAll(/^### (Tollgate\w+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(rules.map(({ name }) => name))
  })
})

describe('the dashboard in deploy/grafana', () => {
  it('has panels with different ids and titles', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  })

  it.each(dashboard.panels)(
    'has a unit, a description and a query in the panel "$title"',
    ({ description, fieldConfig, targets }) => {
      expect(description).toMatch(/\.$/)
      expect(fieldConfig.defaults.unit).toMatch(/^\w+$/)
      expect(targets.length).toBeGreaterThan(0)
      for (const { expr } of targets) expect(expr).toMatch(/tollgate_|process_|nodejs_|ALERTS/)
    },
  )
})

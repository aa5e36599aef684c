import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createWorkerMetrics, type ReportedMetrics } from './metrics.ts'

/** The metrics of a worker after so many requests, each of which took a second. */
async function measure(requests: number): Promise<ReportedMetrics> {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'requests_total', help: 'Requests', registers }).inc(requests)
  new Gauge({ name: 'open', help: 'Open connections', registers }).set(requests)
  const times = new Histogram({ name: 'seconds', help: 'Times', buckets: [0.5, 2], registers })
  for (let turn = 0; turn < requests; turn++) times.observe(1)
  return registry.getMetricsAsJSON()
}

const readMetric = (text: string, name: string) =>
  text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.split(' ')[1]

it('the metrics of all workers keep the counters of workers that have ended, but not their gauges', async () => {
  const metrics = createWorkerMetrics(() => 1)
  metrics.store(1, await measure(3))
  metrics.store(2, await measure(4))
  metrics.keep(1)
  metrics.store(2, await measure(6))
  metrics.keep(2)
  metrics.store(3, await measure(10))
  metrics.countCrash()
  const text = await metrics.read(new Map([[3, await measure(11)]]))
  expect(readMetric(text, 'requests_total')).toBe('20')
  expect(readMetric(text, 'seconds_count')).toBe('20')
  expect(readMetric(text, 'seconds_sum')).toBe('20')
  expect(readMetric(text, 'seconds_bucket{le="2"}')).toBe('20')
  expect(readMetric(text, 'seconds_bucket{le="0.5"}')).toBe('0')
  expect(readMetric(text, 'open')).toBe('11')
  expect(readMetric(text, 'tollgate_workers')).toBe('1')
  expect(readMetric(text, 'tollgate_worker_crashes_total')).toBe('1')
})

it('the metrics of all workers use the last report of a worker that did not answer, and count no worker twice', async () => {
  const metrics = createWorkerMetrics(() => 2)
  metrics.store(1, await measure(3))
  metrics.store(2, await measure(4))
  const measured = new Map([[1, await measure(5)]])
  expect(readMetric(await metrics.read(measured), 'requests_total')).toBe('9')
  // It has ended after it was measured.
  metrics.keep(1)
  expect(readMetric(await metrics.read(measured), 'requests_total')).toBe('7')
})

import type {
  Attributes,
  BatchObservableCallback,
  Meter,
  ObservableCounter,
  ObservableGauge,
} from '@opentelemetry/api'
import { type Metrics, REQUEST_DURATION } from '../statistics/metrics.ts'

type Registry = Metrics['registry']

/**
 * Creates OpenTelemetry instruments with the names and values of the counters and gauges of
 * `/metrics`. They are read only when the SDK exports them, so they do not slow down requests. They
 * can still be read after the service is closed, because the SDK exports the last values when the
 * process ends.
 */
export function mirrorRegistry(meter: Meter, registry: Registry): void {
  const instruments = new Map<string, ObservableCounter | ObservableGauge>()
  for (const { name, help: description, type } of registry.getMetricsAsArray()) {
    if (String(type) === 'counter') {
      instruments.set(name, meter.createObservableCounter(name, { description }))
    } else if (String(type) === 'gauge') {
      instruments.set(name, meter.createObservableGauge(name, { description }))
    }
  }
  const observe: BatchObservableCallback = async (result) => {
    for (const { name, values } of await registry.getMetricsAsJSON()) {
      const instrument = instruments.get(name)
      if (!instrument) continue
      for (const { value, labels } of values) {
        result.observe(instrument, value, labels as Attributes)
      }
    }
  }
  meter.addBatchObservableCallback(observe, [...instruments.values()])
}

/** Returns metrics that also record each response time with OpenTelemetry. */
export function mirrorDurations(meter: Meter, metrics: Metrics): Metrics {
  const { name, help: description, buckets: explicitBucketBoundaries } = REQUEST_DURATION
  const durations = meter.createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries },
  })
  return {
    ...metrics,
    observeRequest(route, method, status, seconds) {
      metrics.observeRequest(route, method, status, seconds)
      durations.record(seconds, { route, method, status })
    },
  }
}

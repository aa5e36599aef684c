export type { Duration } from '@tollgate/http'
export { type MovableClock, movableClock } from './movable-clock.ts'
export { setPlan, type UseUpOptions, useUp } from './subjects.ts'

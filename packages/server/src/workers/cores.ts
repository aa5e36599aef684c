import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/**
 * Returns the number of processor cores that this process may use. A container's limit on processor
 * time counts, which Node itself ignores before version 24.
 */
export function countCores(limitFile = '/sys/fs/cgroup/cpu.max'): number {
  const cores = availableParallelism()
  try {
    const [quota = '', period = ''] = readFileSync(limitFile, 'utf8').split(' ')
    const limit = Math.floor(Number(quota) / Number(period))
    return Number.isNaN(limit) ? cores : Math.max(1, Math.min(limit, cores))
  } catch {
    return cores
  }
}

import type { CheckName } from '../../config/row.ts'

/** The result of one check. Only the level `problem` makes `doctor` fail. */
export interface Finding {
  readonly check: CheckName
  readonly level: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** How to fix the problem. `null` if nothing needs to be done. */
  readonly fix: string | null
}

type CreateFinding = (check: CheckName, message: string, fix?: string) => Finding

const createFindingFactory =
  (level: Finding['level']): CreateFinding =>
  (check, message, fix) => ({ check, level, message, fix: fix ?? null })

export const ok = createFindingFactory('ok')
export const warning = createFindingFactory('warning')
export const problem = createFindingFactory('problem')

/**
 * Returns the findings without the values `false`, so that a finding can be written as `condition
 * && finding`.
 */
export function keepFindings(...all: ReadonlyArray<Finding | false>): Finding[] {
  return all.filter((each) => each !== false)
}

/** Describes an error in one line. */
export function describeErrorBriefly(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null
  const code = (cause as NodeJS.ErrnoException | null)?.code
  return code ? `${text} (${code})` : text
}

import { type ProblemName, ServiceError } from '../service-error.ts'

/** Messages about single fields, by the name of the field. */
export type FieldProblems = Readonly<Record<string, readonly string[]>>

interface ProblemOptions extends ErrorOptions {
  readonly fields?: FieldProblems
  /** Further members of the response, for programs. */
  readonly members?: Readonly<Record<string, unknown>>
}

/** Thrown if an operation was refused, or failed in a way that its caller should know about. */
export class AdminProblem extends ServiceError {
  override readonly problem: ProblemName
  readonly fields: FieldProblems | undefined
  readonly members: Readonly<Record<string, unknown>>

  /** `detail` says what was wrong and what to do. It is shown to the caller. */
  constructor(problem: ProblemName, detail: string, options: ProblemOptions = {}) {
    super(detail, options)
    this.problem = problem
    this.fields = options.fields
    this.members = options.members ?? {}
  }
}

/** The error for an object that does not exist, or that the caller may not know of. */
export function notFound(kind: string, id: string): AdminProblem {
  return new AdminProblem('not-found', `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`)
}

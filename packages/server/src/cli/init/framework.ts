import type { InitChoices } from './choices.ts'
import type { Project } from './project.ts'

/** A file that `tollgate init` creates or changes. */
export interface FileChange {
  /** Path relative to the folder of the project. */
  readonly path: string
  /** The present text. `null` if the file does not exist. */
  readonly before: string | null
  readonly after: string
}

/** The source files for a project. */
export interface SourcePlan {
  readonly changes: readonly FileChange[]
  /** Path of the generated file, which creates the authorization server. */
  readonly server: string
  /** Instructions for remaining edits by hand, with the lines to add. `null` if none remain. */
  readonly byHand: string | null
  /** The port on which the application listens while it is developed. */
  readonly port: number
}

/** A web framework whose projects `tollgate init` can set up. */
export interface Framework {
  readonly name: string
  /** The framework's package. */
  readonly package: string
  /** Oldest supported major version. */
  readonly major: number
  /** Packages for its types that a TypeScript project needs. */
  readonly types: readonly string[]
  /**
   * Plans the source files, and writes nothing.
   * @throws UsageError if the layout of the project is not supported.
   */
  plan(project: Project, choices: InitChoices): SourcePlan
}

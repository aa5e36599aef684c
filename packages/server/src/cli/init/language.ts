/** The language and module system of a source file. */
export interface Language {
  readonly typescript: boolean
  /** How Node loads the files of the project. */
  readonly modules: 'esm' | 'commonjs'
}

/** Describes a file by its name. `type` is the field `type` of package.json. */
export function detectLanguage(file: string, type: unknown): Language {
  const [, letter, kind] = /\.([cm]?)([jt])sx?$/.exec(file) ?? []
  const named = letter === 'm' ? 'esm' : letter === 'c' ? 'commonjs' : null
  return {
    typescript: kind === 't',
    modules: named ?? (type === 'module' ? 'esm' : 'commonjs'),
  }
}

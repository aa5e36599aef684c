import { type CompletionPosition, type CompletionWord, GLOBAL_OPTIONS } from './words.ts'

/** Creates the script for fish. */
export function fishCompletion(positions: readonly CompletionPosition[]): string {
  const paths = positions.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  return `# Completion of tollgate in fish. Load it with: tollgate completion fish | source
function __tollgate_at
    set -l line ''
    set -l skip no
    for word in (commandline -opc)[2..]
        if test $skip = yes
            set skip no
            continue
        end
        if contains -- $word ${GLOBAL_OPTIONS.map(({ flag }) => flag).join(' ')}
            set skip yes
            continue
        end
        set -l candidate (string trim -- "$line $word")
        if contains -- $candidate ${paths.join(' ')}
            set line $candidate
        end
    end
    test "$line" = "$argv[1]"
end
complete -c tollgate -f
${positions.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, words, flags, values }: CompletionPosition): string[] {
  const at = `complete -c tollgate -n ${quote(`__tollgate_at ${quote(path)}`)}`
  const described = ({ description }: CompletionWord) =>
    description === '' ? '' : ` -d ${quote(description)}`
  return [
    ...words.map((each) => `${at} -a ${each.word}${described(each)}`),
    ...flags.map((each) => {
      const value = values.find(({ flag }) => flag === each.word)
      const takes =
        value === undefined
          ? ''
          : value.values === 'files'
            ? ' -r -F'
            : ` -x${value.values.length === 0 ? '' : ` -a ${quote(value.values.join(' '))}`}`
      return `${at} -l ${each.word.slice(2)}${takes}${described(each)}`
    }),
  ]
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

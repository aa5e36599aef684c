import { readFileSync } from 'node:fs'
import type * as fontkit from 'fontkit'
import type PDFDocument from 'pdfkit'

/** A parsed font, which pdfkit takes as well; its typings know only files and bytes. */
type Font = Parameters<InstanceType<typeof PDFDocument>['registerFont']>[1]

export interface Fonts {
  readonly regular: Font
  readonly bold: Font
}

let embedded: Promise<Fonts> | undefined

/** Parsed once: that takes longer than printing a page. */
export function embeddedFonts(): Promise<Fonts> {
  if (!embedded) {
    // Asked for in this way, bundlers leave the files alone: Next's would try to compile the fonts.
    const { createRequire } = process.getBuiltinModule('node:module')
    const { resolve } = createRequire(import.meta.url)
    const read = (name: string) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))
    embedded = readFonts({ regular: read('DejaVuSans'), bold: read('DejaVuSans-Bold') })
  }
  return embedded
}

export async function readFonts(files: {
  readonly regular: Uint8Array
  readonly bold: Uint8Array
}): Promise<Fonts> {
  const { create } = await import('fontkit')
  return { regular: parse(create, files.regular), bold: parse(create, files.bold) }
}

/**
 * Fontkit keeps each glyph as it first met it. Met as a part of `ż`, a `z` stands for no letter, and
 * every later invoice would print it but not let it be copied: so each letter is met by itself.
 */
function parse(create: typeof fontkit.create, bytes: Uint8Array): Font {
  const font = create(Buffer.from(bytes)) as fontkit.Font
  for (const letter of font.characterSet) font.glyphForCodePoint(letter)
  return font as unknown as Font
}

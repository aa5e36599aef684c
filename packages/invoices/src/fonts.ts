import { readFileSync } from 'node:fs'
import type * as fontkit from 'fontkit'
import type PDFDocument from 'pdfkit'

/** A parsed font. pdfkit accepts it, although its typings allow only files and bytes. */
type Font = Parameters<InstanceType<typeof PDFDocument>['registerFont']>[1]

export interface PdfFonts {
  readonly regular: Font
  readonly bold: Font
}

let embedded: Promise<PdfFonts> | undefined

/** Parses the built-in fonts once, because that takes longer than printing a page. */
export function readEmbeddedFonts(): Promise<PdfFonts> {
  if (!embedded) {
    // Loaded this way so that bundlers leave the files alone: that of Next would try to compile the
    // fonts.
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
}): Promise<PdfFonts> {
  const { create } = await import('fontkit')
  return { regular: parse(create, files.regular), bold: parse(create, files.bold) }
}

/**
 * Parses a font and registers each letter on its own. Fontkit caches each glyph in the form in
 * which it was first used: a `z` first used as part of `ż` would belong to no letter, so that it
 * could not be copied from any later invoice.
 */
function parse(create: typeof fontkit.create, bytes: Uint8Array): Font {
  const font = create(Buffer.from(bytes)) as fontkit.Font
  for (const letter of font.characterSet) font.glyphForCodePoint(letter)
  return font as unknown as Font
}

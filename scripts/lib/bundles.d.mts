import type * as esbuild from "esbuild"

export { esbuild }
export function serverBundles(outdir: string, build: string | null): esbuild.BuildOptions
export function programBundles(outdir: string): esbuild.BuildOptions
export function buildPrograms(outdir: string, extra?: esbuild.BuildOptions): Promise<void>
export function toolBundle(entryPoint: string, outfile: string): esbuild.BuildOptions
export function buildArmed(outdir: string, build: string): Promise<void>

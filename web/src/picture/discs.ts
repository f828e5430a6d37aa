import { NodeProgram, type ProgramInfo } from 'sigma/rendering'
import type { NodeDisplayData, RenderParams } from 'sigma/types'
import { type Fill, rgb } from './colours'

/** What the program draws besides sigma's own data. */
export interface DiscData {
	fills: Fill[]
	border: string
	borderWidth: number
}

const parts = 4
const vertexShader = /* glsl */ `
attribute vec2 a_position;
attribute float a_size;
attribute float a_count;
attribute float a_borderWidth;
attribute vec4 a_border;
attribute vec4 a_fill0;
attribute vec4 a_fill1;
attribute vec4 a_fill2;
attribute vec4 a_fill3;
attribute vec4 a_id;
attribute float a_angle;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;

varying vec2 v_offset;
varying float v_radius;
varying float v_pixel;
varying float v_count;
varying float v_borderWidth;
varying vec4 v_border;
varying vec4 v_fill0;
varying vec4 v_fill1;
varying vec4 v_fill2;
varying vec4 v_fill3;
varying vec4 v_id;

void main() {
	// A triangle around a disc of radius r has its corners at a distance of 2 r.
	float size = a_size * u_correctionRatio / u_sizeRatio * 4.0;
	vec2 offset = size * vec2(cos(a_angle), sin(a_angle));
	gl_Position = vec4((u_matrix * vec3(a_position + offset, 1)).xy, 0, 1);
	v_offset = offset;
	v_radius = size / 2.0;
	v_pixel = 2.0 * u_correctionRatio;
	v_count = a_count;
	v_borderWidth = a_borderWidth;
	v_border = a_border;
	v_fill0 = a_fill0;
	v_fill1 = a_fill1;
	v_fill2 = a_fill2;
	v_fill3 = a_fill3;
	v_id = a_id * 255.0 / 254.0;
	v_id.rgb = a_id.rgb;
}
`
const fragmentShader = /* glsl */ `
precision highp float;

varying vec2 v_offset;
varying float v_radius;
varying float v_pixel;
varying float v_count;
varying float v_borderWidth;
varying vec4 v_border;
varying vec4 v_fill0;
varying vec4 v_fill1;
varying vec4 v_fill2;
varying vec4 v_fill3;
varying vec4 v_id;

uniform vec3 u_paper;

void main() {
	float from = length(v_offset);
	if (from > v_radius) discard;
	#ifdef PICKING_MODE
	gl_FragColor = v_id;
	#else
	// Parts go clockwise from the top.
	float turn = atan(v_offset.x, v_offset.y) / 6.283185307;
	float part = floor((turn < 0.0 ? turn + 1.0 : turn) * v_count);
	vec4 fill = part < 0.5 ? v_fill0 : part < 1.5 ? v_fill1 : part < 2.5 ? v_fill2 : v_fill3;
	float inner = v_radius - v_borderWidth * v_pixel;
	// The fourth byte of a fill is the size of its hole.
	float hole = fill.a * inner;
	vec3 colour = hole > 0.0 ? mix(u_paper, fill.rgb, smoothstep(hole - v_pixel, hole, from)) : fill.rgb;
	colour = mix(colour, v_border.rgb, smoothstep(inner - v_pixel * 0.5, inner + v_pixel * 0.5, from));
	float alpha = 1.0 - smoothstep(v_radius - v_pixel, v_radius, from);
	gl_FragColor = vec4(colour, 1.0) * alpha;
	#endif
}
`

const bytes = new Uint8Array(4)
const float = new Float32Array(bytes.buffer)

/** packed is a colour and a byte in a float. The lowest bit of the byte is 0, so that the float is a number. */
function packed(colour: string, fourth: number): number {
	const c = rgb(colour)
	bytes.set([c[0], c[1], c[2], Math.round(fourth * 255) & 0xfe])
	return float[0]!
}

const uniforms = ['u_sizeRatio', 'u_correctionRatio', 'u_matrix', 'u_paper'] as const

/** discsOn makes sigma's program for discs of several colours. The colour of the background is asked for at each frame. */
export function discsOn(paper: () => string) {
	return class Discs extends NodeProgram<(typeof uniforms)[number]> {
		override getDefinition() {
			const { FLOAT, UNSIGNED_BYTE, TRIANGLES } = WebGLRenderingContext
			const colour = (name: string) => ({ name, size: 4, type: UNSIGNED_BYTE, normalized: true })
			return {
				VERTICES: 3,
				VERTEX_SHADER_SOURCE: vertexShader,
				FRAGMENT_SHADER_SOURCE: fragmentShader,
				METHOD: TRIANGLES,
				UNIFORMS: uniforms,
				ATTRIBUTES: [
					{ name: 'a_position', size: 2, type: FLOAT },
					{ name: 'a_size', size: 1, type: FLOAT },
					{ name: 'a_count', size: 1, type: FLOAT },
					{ name: 'a_borderWidth', size: 1, type: FLOAT },
					colour('a_border'),
					colour('a_fill0'),
					colour('a_fill1'),
					colour('a_fill2'),
					colour('a_fill3'),
					colour('a_id'),
				],
				CONSTANT_ATTRIBUTES: [{ name: 'a_angle', size: 1, type: FLOAT }],
				CONSTANT_DATA: [[0], [(2 * Math.PI) / 3], [(4 * Math.PI) / 3]],
			}
		}

		override processVisibleItem(id: number, at: number, data: NodeDisplayData) {
			const d = data as NodeDisplayData & DiscData
			const a = this.array
			a[at++] = d.x
			a[at++] = d.y
			a[at++] = d.size
			a[at++] = d.fills.length
			a[at++] = d.borderWidth
			a[at++] = packed(d.border, 0)
			for (let i = 0; i < parts; i++) {
				const f = d.fills[i] ?? d.fills[0]!
				a[at++] = packed(f.colour, f.hole)
			}
			a[at] = id
		}

		override setUniforms(params: RenderParams, { gl, uniformLocations: u }: ProgramInfo<(typeof uniforms)[number]>) {
			gl.uniform1f(u.u_sizeRatio, params.sizeRatio)
			gl.uniform1f(u.u_correctionRatio, params.correctionRatio)
			gl.uniformMatrix3fv(u.u_matrix, false, params.matrix)
			const [r, g, b] = rgb(paper())
			gl.uniform3f(u.u_paper, r / 255, g / 255, b / 255)
		}
	}
}

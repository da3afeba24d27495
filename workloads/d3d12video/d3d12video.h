/* SPDX-License-Identifier: MIT */
#pragma once

/* Video encoding by Direct3D 12, since Windows build 22000: ID3D12VideoDevice3. d3d12video_api is what
 * programs need; the rest is shared by the files of this folder. Source: d3d12video.h, and "D3D12 Video
 * Encoding" of the DirectX specifications. */

#include "base/os_version.h"
#include "workloads/d3d12/d3d12.h"
#include "workloads/d3d12video/av1_abi.h"
#include "workloads/video/video.h"

/* d3d12video.h names these types, which older headers of Direct3D 12 lack. */
typedef struct ID3D12ProtectedResourceSession ID3D12ProtectedResourceSession;
typedef struct D3D12_BARRIER_GROUP D3D12_BARRIER_GROUP;
#include <directx/d3d12video.h>

/* From newer headers of Direct3D 12. */
enum {
	D3D12VIDEO_LIST_TYPE = 6,	  /* D3D12_COMMAND_LIST_TYPE_VIDEO_ENCODE */
	D3D12VIDEO_REFERENCE_ONLY = 0x80, /* D3D12_RESOURCE_FLAG_VIDEO_ENCODE_REFERENCE_ONLY */
	D3D12VIDEO_SUPPORT1 = 47,	  /* D3D12_FEATURE_VIDEO_ENCODER_SUPPORT1 */
};

/* D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT1, whose last member was added later. */
struct d3d12video_support1 {
	D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT common;
	D3D12_VIDEO_ENCODER_PICTURE_CONTROL_SUBREGIONS_LAYOUT_DATA SubregionFrameEncodingData;
	UINT MaxQualityVsSpeed;
};

struct d3d12video {
	struct d3d12_device gpu;
	ID3D12VideoDevice3 *device;
	int profiles[VIDEO_CODECS]; /* the first supported ones, by each codec's own numbers */
};

/* D3D12_CALL() of a query. */
#define D3D12VIDEO_ASK(video, err, feature, query)                                                 \
	D3D12_CALL(&(video)->gpu, err, ID3D12VideoDevice3, CheckFeatureSupport, (video)->device,   \
		   D3D12_FEATURE_VIDEO_ENCODER_##feature, query, sizeof(*(query)))

/* The same for a query that a driver need not answer: does it? */
#define D3D12VIDEO_ANSWERS(video, feature, query)                                                  \
	(ID3D12VideoDevice3_CheckFeatureSupport((video)->device,                                   \
						D3D12_FEATURE_VIDEO_ENCODER_##feature, query,      \
						sizeof(*(query))) >= 0)

/* H.264, HEVC and, in newer headers, AV1 have the same numbers there. */
static inline D3D12_VIDEO_ENCODER_CODEC d3d12video_codec_of(enum video_codec codec)
{
	return (D3D12_VIDEO_ENCODER_CODEC)codec;
}

/* Points to the number of a profile of the codec. */
static inline D3D12_VIDEO_ENCODER_PROFILE_DESC d3d12video_profile_of(int *number)
{
	return (D3D12_VIDEO_ENCODER_PROFILE_DESC){
		.DataSize = sizeof(*number),
		.pH264Profile = (D3D12_VIDEO_ENCODER_PROFILE_H264 *)(void *)number,
	};
}

/* Reports why a system has no ID3D12VideoDevice3. Returns ERROR_UNSUPPORTED. */
int d3d12video_refuse(const struct os_version *system, struct error *err);

/* offers.c */
int d3d12video_list(void *session, const struct work_request *request, struct video_offers *offers,
		    struct error *err);

enum { D3D12VIDEO_PLANES = 2, D3D12VIDEO_REFERENCES = 2, D3D12VIDEO_PARTS_MAX = 64 };

/* The result of coding one picture, in the form that is the same for all drivers. */
struct d3d12video_metadata {
	D3D12_VIDEO_ENCODER_OUTPUT_METADATA head;
	D3D12_VIDEO_ENCODER_FRAME_SUBREGION_METADATA parts[D3D12VIDEO_PARTS_MAX];
};

/* The settings of a stream, in the form that encoder, heap and pictures need. The descriptions below
 * point to the unions. */
struct d3d12video_settings {
	int profile_number;
	union {
		D3D12_VIDEO_ENCODER_LEVELS_H264 h264;
		D3D12_VIDEO_ENCODER_LEVEL_TIER_CONSTRAINTS_HEVC hevc; /* and AV1 */
	} level_setting;
	union {
		D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_H264 h264;
		D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION_HEVC hevc;
		struct av1_configuration av1;
	} tools;
	union {
		D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264 h264;
		D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_HEVC hevc;
		struct av1_structure av1;
	} pictures;
	D3D12_VIDEO_ENCODER_RATE_CONTROL_CQP quantisers; /* where no rate is kept */
	D3D12_VIDEO_ENCODER_CODEC codec;
	D3D12_VIDEO_ENCODER_PROFILE_DESC profile;
	D3D12_VIDEO_ENCODER_LEVEL_SETTING level;
	D3D12_VIDEO_ENCODER_CODEC_CONFIGURATION configuration;
	D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE group;
	D3D12_VIDEO_ENCODER_RATE_CONTROL rate;
	D3D12_VIDEO_ENCODER_PICTURE_RESOLUTION_DESC size;
	D3D12_VIDEO_ENCODER_PICTURE_CONTROL_SUBREGIONS_LAYOUT_DATA layout; /* AV1 only */
	/* As the driver suggests or requires. */
	D3D12_FEATURE_DATA_VIDEO_ENCODER_RESOLUTION_SUPPORT_LIMITS limits;
};

/* One stream. Each frame is coded before the next is put. */
struct d3d12video_encoder {
	struct d3d12video *video;
	const struct video_job *job;
	const struct d3d12video_codec *codec;
	struct d3d12video_settings settings;
	struct text headers; /* the parameter sets, which the caller has to write */
	ID3D12VideoEncoder *encoder;
	ID3D12VideoEncoderHeap *heap;
	struct d3d12_commands commands;
	ID3D12VideoEncodeCommandList2 *list;			      /* of `commands` */
	D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout[D3D12VIDEO_PLANES]; /* of a frame in `upload` */
	ID3D12Resource *upload, *input;
	/* Decoded pictures, which alternate: textures, or slices of the first. */
	ID3D12Resource *references[D3D12VIDEO_REFERENCES];
	bool texture_array;
	/* The stream of one picture, the driver's metadata, and the same as struct d3d12video_metadata. */
	ID3D12Resource *bitstream, *metadata, *resolved;
	size_t coded_size;
	uint8_t *uploaded, *coded, *reported; /* mapped: `upload`, `bitstream` and `resolved` */
	unsigned index;			      /* of the current picture */
	unsigned av1_filter, av1_tx_mode;     /* interpolation_filter, AV1_TX_MODE_... */
};

enum { D3D12VIDEO_QUALITY = 24 /* for H.264 and HEVC */ };

/* How to code a picture: the first is a key frame, each other one refers to the one before. */
struct d3d12video_picture {
	union {
		D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_H264 h264;
		D3D12_VIDEO_ENCODER_PICTURE_CONTROL_CODEC_DATA_HEVC hevc;
		struct av1_picture av1;
	} data;
	union {
		D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_H264 h264;
		D3D12_VIDEO_ENCODER_REFERENCE_PICTURE_DESCRIPTOR_HEVC hevc;
	} before;
	UINT first; /* the index of `before` among references */
};

/* What depends on the codec: h264.c, hevc.c, av1.c. */
struct d3d12video_codec {
	/* The sizes of its members of those unions. */
	size_t level_size, tools_size, pictures_size, data_size;
	size_t values_size; /* of what the driver reports after the parts of a picture */
	UINT quality;	    /* the quantiser, where no rate is kept */
	/* Chooses `tools` and `pictures`. ERROR_UNSUPPORTED: the driver supports none of those
	 * known here. */
	int (*choose)(struct d3d12video_encoder *e, struct error *err);
	/* Fills `headers`, once level and limits are known. ERROR_FORMAT: those make no sense. */
	int (*write_headers)(struct d3d12video_encoder *e, struct error *err);
	void (*describe)(const struct d3d12video_encoder *e, struct d3d12video_picture *out);
	/* Appends a coded picture after the headers that follow from `values`. ERROR_FORMAT: those make no
	 * sense. NULL: the driver writes headers of pictures, and only the first needs `headers`. */
	int (*add_picture)(struct d3d12video_encoder *e, const void *values,
			   const struct text *coded, struct text *stream, struct error *err);
};

extern const struct d3d12video_codec d3d12video_h264, d3d12video_hevc, d3d12video_av1;

/* encoder.c */
extern const struct video_encoder d3d12video_encoder;

/* picture.c: records the coding of the frame in `input` and the resolving of its metadata, and
 * overwrites the memory that will be read back. */
void d3d12video_record(struct d3d12video_encoder *e);

/* Appends a coded picture to the stream, the first after the parameter sets. ERROR_REMOTE: the driver
 * reports a failure. ERROR_FORMAT: its report makes no sense. */
int d3d12video_append(struct d3d12video_encoder *e, struct text *stream, struct error *err);
